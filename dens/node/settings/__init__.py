"""The file of a node: its keys, and everything the node needs that follows from it."""
