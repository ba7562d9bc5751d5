"""Matchers of the language, by possibility and necessity."""
