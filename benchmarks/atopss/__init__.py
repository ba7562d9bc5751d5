"""Measurements of approximate matching and covering."""
