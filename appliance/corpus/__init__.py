"""Pure functions from corpus files to sections and chunks."""
