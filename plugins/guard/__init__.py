"""Languages of other packages, held so that what one of them does wrong ends nothing else."""
