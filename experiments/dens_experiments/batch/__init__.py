"""The family `batch`: a batch of events in the order of their work, over an index of boxes."""
