"""Fuzzy subscriptions as columns, and the scans over them."""
