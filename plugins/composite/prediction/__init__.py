"""Predictions: transition models, and the life cycle of a prediction at a source."""
