"""Predictions: transition models, and the life of a prediction at a source."""
