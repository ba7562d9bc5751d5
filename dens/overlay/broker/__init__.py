"""Brokers: mediators that hand notifications on along reverse paths and carry nothing."""
