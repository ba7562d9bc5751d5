"""What carries frames between devices that are not in range of each other, where a scenario asks for it."""
