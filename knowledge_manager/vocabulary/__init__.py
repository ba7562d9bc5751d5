"""Vocabularies: event classes, attributes, terms, and the files they come from."""
