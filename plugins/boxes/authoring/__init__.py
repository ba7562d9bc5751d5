"""Authoring of boxes: write, check, describe, explain, decompile."""
