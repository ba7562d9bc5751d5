"""From a word to attributes of the mission table."""
