"""Measurements of the emulator: contacts, forwarding, growth, comparison with The ONE."""
