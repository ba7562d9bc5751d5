"""Isolates languages of other packages: a faulty one is reported with its name and stops nothing else."""
