"""Use cases of subscriptions: compile, check, explain, match, decode."""
