"""Live matches: the only writer of their streams."""
