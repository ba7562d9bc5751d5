"""Relations of subscriptions: covering, merging, routing."""
