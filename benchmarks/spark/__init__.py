"""Measurements of analysis on Spark."""
