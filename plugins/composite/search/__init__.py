"""Finds matches of a composite pattern in remembered events."""
