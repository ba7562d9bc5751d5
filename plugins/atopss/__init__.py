"""A-ToPSS, language 2: subscriptions and publications with uncertainty."""
