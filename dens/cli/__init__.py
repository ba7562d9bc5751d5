"""The `dens` command: one file per sub-command. Logic is in dens/app."""
