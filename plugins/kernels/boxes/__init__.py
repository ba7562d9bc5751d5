"""Boxes as bitsets and trees."""
