"""Makes the watchdog package small enough for a board with 16 KB of RAM."""
