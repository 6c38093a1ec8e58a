"""Pure functions from passages and drafts to proven answers."""
