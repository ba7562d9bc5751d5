"""The processes of a node, a publisher and a subscriber."""
