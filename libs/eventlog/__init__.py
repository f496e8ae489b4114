"""The event log: a port, the log of one deployment's own database, and the one consumer loop."""
