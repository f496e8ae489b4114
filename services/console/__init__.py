"""The `opolyx` command line: it composes the libraries and does nothing itself.

Owns: nothing. Writes: the files that it is told to. Reads: exports, scenario files.
"""
