"""Commands for vocabularies and files."""
