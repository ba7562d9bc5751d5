"""What the commands of a node print."""
