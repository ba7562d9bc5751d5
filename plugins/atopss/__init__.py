"""A-ToPSS, language 2: subscriptions and publications that may both be uncertain."""
