"""G-ToPSS: subscriptions are graph patterns."""
