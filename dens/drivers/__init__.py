"""What touches the machine outside the stores: keys and randomness."""
