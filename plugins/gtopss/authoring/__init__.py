"""Authoring of graph patterns: write, check, describe, explain, decompile."""
