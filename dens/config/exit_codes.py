"""Exit codes of commands. They are part of the interface: scripts depend on them."""

from typing import Final

FINE: Final = 0
FINDING: Final = 1
"""The command worked and found something: a file with errors, an invalid line, a missing part."""
USAGE: Final = 2
"""The command line is invalid."""
BAD_INPUT: Final = 3
"""A file, a vector or a folder could not be used. Nothing was left half-written under its final name."""
ABORTED: Final = 4
"""A run could not be finished, or an internal error."""
INTERRUPTED: Final = 130
"""Ctrl-C. What was finished until then is on disk and valid."""
