"""Learns from past readings: terms for vocabularies, and state transitions."""
