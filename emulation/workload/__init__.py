"""What applications do in a run: subscribe, publish, send messages."""
