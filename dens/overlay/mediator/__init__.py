"""A DENS node: stores, matches, carries and forwards subscriptions and notifications."""
