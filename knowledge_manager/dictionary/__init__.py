"""Local and distributed data dictionaries (LDD, DDD): which node offers which sources."""
