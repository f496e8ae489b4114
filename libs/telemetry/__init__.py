"""Logs, traces and metrics: how they are set up, and what everything in them is called."""
