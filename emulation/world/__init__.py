"""The emulated world of a run: nodes, contacts, energy, faults of frames."""
