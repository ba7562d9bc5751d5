"""Costs of a device: battery, board profiles, times of matching steps."""
