"""Boards as data: one module for each, checked when it is turned into a `Board`."""
