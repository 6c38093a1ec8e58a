"""Five tree learners on the same pages: ID3 and C4.5 of `models`, XGBoost and LightGBM, and the rules."""
