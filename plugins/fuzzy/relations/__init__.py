"""How fuzzy subscriptions relate: what covers what, and the forest of it."""
