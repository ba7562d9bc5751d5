"""Connects content management systems: reads a folder of feeds, writes one feed per subscription."""
