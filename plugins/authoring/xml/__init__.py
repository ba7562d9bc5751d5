"""Reads subscription documents in XML."""
