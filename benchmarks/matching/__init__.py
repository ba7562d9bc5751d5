"""Measurements of fuzzy matching."""
