"""Recorded contacts in the formats of other programs: one module per format."""
