"""Use cases of a node: run, publish, list offers."""
