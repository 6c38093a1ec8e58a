"""Which models a box of each hardware profile runs, and whether they fit."""
