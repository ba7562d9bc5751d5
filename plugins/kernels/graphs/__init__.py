"""Graph patterns in flat arrays."""
