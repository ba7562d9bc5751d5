"""State that survives a crash: the store interface and the tables kept in it."""
