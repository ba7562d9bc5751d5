"""How two subscriptions of the language relate, and what serves in place of several."""
