"""What touches the machine outside the stores: the loop that drives a machine, its links, and keys."""
