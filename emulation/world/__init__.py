"""One emulated world: nodes, contacts, energy, faults of frames."""
