"""Algorithms that find the patterns that a publication matches."""
