"""Measurements of the protocol engines."""
