"""Commands for real nodes."""
