"""Vectors and readings as text."""
