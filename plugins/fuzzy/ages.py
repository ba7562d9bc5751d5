"""The age of an event as the byte that a constraint on age is compared with."""

from bisect import bisect_left
from typing import Final

from watchdog.lifetime import lifetime_s

OLDEST_S: Final = 65535
"""Ages saturate here."""
_SECONDS: Final = tuple(map(lifetime_s, range(256)))
"""What each code stands for: every notification that is matched is looked up here, so it is not computed."""


def age_code(age_ms: int) -> int:
    """Return the least q with ⌊2^(q/8)⌋ ≥ the age in seconds, begun seconds counted whole; never negative."""
    return bisect_left(_SECONDS, min(max(-(-age_ms // 1000), 0), OLDEST_S))
