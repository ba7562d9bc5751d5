"""Commands for graph publications."""
