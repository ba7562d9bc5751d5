"""Authoring of composites: write, check, describe, explain, decompile."""
