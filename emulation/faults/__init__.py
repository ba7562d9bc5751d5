"""Worlds in which nodes run empty, compute slowly, crash, lose and corrupt frames, and are cut off."""
