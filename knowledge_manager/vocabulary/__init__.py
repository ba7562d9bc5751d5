"""Vocabularies: event classes, attributes, terms, and their files."""
