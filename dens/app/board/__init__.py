"""Use cases of boards: build and deploy."""
