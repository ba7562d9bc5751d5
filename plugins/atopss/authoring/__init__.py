"""Authoring of the language: write, check, describe, explain, draw, decompile."""
