"""Parsers: the bytes of what cities publish, one format a file, to Markdown.  They do no I/O."""
