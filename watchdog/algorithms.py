"""The filter's algorithms by the names with which builds, scenarios and nodes choose them."""

from watchdog.pool import FNIF, FNIFC, FNIFS

ALGORITHMS = {"fnif": FNIF, "fnifs": FNIFS, "fnifc": FNIFC}
"""All of them release the same; what they cost differs (docs/how-to/boards.md)."""
