"""Algorithms that find the patterns a publication matches."""
