"""Commands for runs and their analysis."""
