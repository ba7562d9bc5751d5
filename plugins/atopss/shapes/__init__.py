"""Shapes on the axis of an attribute, and degrees between them."""
