"""Rooms in which matches form, and who people are."""
