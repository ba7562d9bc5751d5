"""Which subscriptions stand for others at a source: cover index, leases, suppression, decomposition."""
