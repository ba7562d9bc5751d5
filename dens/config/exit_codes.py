"""How a command ends. The numbers are part of the interface: scripts depend on them."""

from typing import Final

FINE: Final = 0
FINDING: Final = 1
"""It worked and found something: a file with errors, a bad line among good ones, a part that is missing."""
USAGE: Final = 2
"""The command line itself was wrong."""
BAD_INPUT: Final = 3
"""A file, a vector or a folder could not be used. Nothing was left half-written under its final name."""
ABORTED: Final = 4
"""A run could not be finished, or something that must always hold did not."""
INTERRUPTED: Final = 130
"""Somebody pressed Ctrl-C. What was finished until then is on disk and valid."""
