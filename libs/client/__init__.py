"""The Python client of the public API, for bots, the command line, and programs of one's own."""
