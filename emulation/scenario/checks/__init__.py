"""Checks of a scenario that need more than one value."""
