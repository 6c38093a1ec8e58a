"""Is our chunker as good as docling's HybridChunker, and how much faster?"""
