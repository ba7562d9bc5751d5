"""G-ToPSS: subscriptions that are patterns of graphs."""
