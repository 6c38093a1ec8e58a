"""Is it right?  Cases, scores, floors."""
