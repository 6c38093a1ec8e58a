"""Retrieval at scale: recall, rows and milliseconds of the index policy, of BM25, of updates and crowds."""
