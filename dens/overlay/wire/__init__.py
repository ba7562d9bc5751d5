"""Codes, messages and frames: everything that is on the air."""
