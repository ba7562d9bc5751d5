"""The language of composite events, number 4: what follows what, and what will."""
