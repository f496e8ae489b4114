"""Tests by topic, then the kinds that cross modules: README.md says which test goes where."""
