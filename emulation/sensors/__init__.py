"""Sources of readings: generators and recordings."""
