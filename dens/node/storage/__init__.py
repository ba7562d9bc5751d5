"""Where engines keep their rows: one file per store."""
