"""Follows a run while it is being written."""
