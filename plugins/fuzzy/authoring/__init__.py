"""Authoring of fuzzy subscriptions: write, check, describe, explain, draw, decompile."""
