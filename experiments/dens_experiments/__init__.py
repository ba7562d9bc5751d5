"""Experiments of the papers, repeated: families of figures, each measured, tabled and drawn the same way."""
