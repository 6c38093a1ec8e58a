"""The commands that do more than a few lines, one a file; `cli` mounts them."""
