"""Replication policies: which mediator gets a copy of which notification. One file each."""
