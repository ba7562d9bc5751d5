"""Sources of readings on a host: recordings, registered kinds, and which of them run."""
