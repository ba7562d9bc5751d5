"""The age of an event as the byte that a constraint on age is compared with (SPEC §3)."""

from typing import Final

from watchdog.vector import lifetime_code

OLDEST_S: Final = 65535
"""Ages saturate here."""


def age_code(age_ms: int) -> int:
    """Return the least q with ⌊2^(q/8)⌋ ≥ the age in seconds, begun seconds counted whole; never negative."""
    return lifetime_code(min(max(-(-age_ms // 1000), 0), OLDEST_S))
