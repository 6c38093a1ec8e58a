"""From a site to corpus files; nothing above this floor is imported."""
