"""Output of the `dens node` commands."""
