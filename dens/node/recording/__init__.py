"""Writes the trace of a real or emulated node."""
