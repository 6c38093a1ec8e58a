"""The product: from corpus files to proven answers."""
