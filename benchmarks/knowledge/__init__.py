"""Measurements of look-up of words and exchange of offers."""
