"""Matchers of the language: which subscriptions a notification satisfies, possibly and necessarily."""
