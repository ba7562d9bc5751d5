"""Recorded movement in the forms that other programs write: one file a form."""
