"""A match in a terminal: typed lines in, the board and the news out, and what both rest on."""
