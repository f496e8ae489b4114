"""How each event changes a match: one small function for each, in a table by the event's class.

Total: what is recorded happened, so nothing is checked here and nothing fails.
"""
