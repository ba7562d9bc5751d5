"""Contacts: which nodes are in range, and when. Computed analytically from motion, not sampled."""
