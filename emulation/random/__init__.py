"""Seeds, and a random stream for each purpose."""
