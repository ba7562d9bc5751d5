"""What a person touches: the `dens` command."""
