"""Where readings come from: made up by generators, or replayed from recordings."""
