"""The thesis' chapter on sequences of events: its machines, and what it did not measure."""
