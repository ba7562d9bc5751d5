"""Commands for subscriptions."""
