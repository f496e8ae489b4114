"""When things fall due, for everyone."""
