"""Measurements of filters on emulated boards."""
