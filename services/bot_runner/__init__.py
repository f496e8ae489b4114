"""Plays the seats of bots, by the players' own API."""
