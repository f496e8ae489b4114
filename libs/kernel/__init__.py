"""Vocabulary that every layer may use: identifiers and chance. Standard library only."""
