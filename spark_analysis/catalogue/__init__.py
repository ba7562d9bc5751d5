"""The metrics by which runs are compared, one file per metric."""
