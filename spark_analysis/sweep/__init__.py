"""Sweeps: many runs of one scenario."""
