"""What a scenario file may contain, key by key."""
