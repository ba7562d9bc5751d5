"""Relations of fuzzy subscriptions, and the covering forest."""
