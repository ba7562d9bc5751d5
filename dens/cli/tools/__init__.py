"""Commands for this machine and for fault injection."""
