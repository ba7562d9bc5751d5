"""Containment, mergers and shards of patterns."""
