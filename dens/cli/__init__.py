"""One file per sub-command of `dens`."""
