"""Pure calculators over fee tables and formulas."""
