"""Measurements of box subscriptions: matching and index updates."""
