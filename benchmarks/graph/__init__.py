"""Measurements of graph subscriptions: matching, containment, Spark."""
