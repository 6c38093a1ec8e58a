"""Parsers: the bytes of what cities publish, one format a file, to Markdown.

A parser gets bytes and gives a `Parsed`; it reads and writes nothing but in the folder of its own
process (`child`), which `quarantine` starts and ends.
"""
