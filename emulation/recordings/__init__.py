"""Recordings of contacts and motion: text within bounds, and their common rows."""
