"""Faults of scenarios: crashes, partitions and clock jumps."""
