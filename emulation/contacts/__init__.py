"""Who is in range of whom, and when: solved from the motion, never sampled."""
