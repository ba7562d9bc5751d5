"""Matches many graph publications against many subscriptions with Spark, using an index on files."""
