"""Experiments of the papers, repeated: each a function that returns a table, which can also be drawn."""
