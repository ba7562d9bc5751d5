"""Vectorised integer and float kernels that several languages share."""
