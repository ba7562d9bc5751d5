"""Measurements of composite events."""
