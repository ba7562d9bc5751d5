"""The direct language: an opaque payload for a named node."""
