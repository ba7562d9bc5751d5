"""Encoding of the age of an event, as compared by a constraint on age."""

from bisect import bisect_left
from typing import Final

from watchdog.lifetime import lifetime_s

OLDEST_S: Final = 65535
"""Ages saturate here."""
_SECONDS: Final = tuple(map(lifetime_s, range(256)))
"""Seconds of each code, precomputed because every matched notification needs it."""


def age_code(age_ms: int) -> int:
    """Return the least q with ⌊2^(q/8)⌋ ≥ the age in seconds, rounded up; never negative."""
    return bisect_left(_SECONDS, min(max(-(-age_ms // 1000), 0), OLDEST_S))
