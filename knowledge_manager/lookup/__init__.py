"""Resolves words to entries of the mission table."""
