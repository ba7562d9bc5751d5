"""Finds matches of a composite pattern in stored events."""
