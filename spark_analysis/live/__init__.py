"""A run that is still being written, followed part by part."""
