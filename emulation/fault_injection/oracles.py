"""Invariant 5: no delivery precedes the ideal earliest arrival, and without faults none misses the trimmed
one.

Both oracles are computed from the list of contacts alone, by relaxing contacts until nothing changes. A path
runs from the publisher over mediators to the subscriber.
"""

from collections.abc import Container, Sequence
from math import inf, isqrt
from typing import Final

LINK_MS: Final = 2
DELTA_MS: Final = 5 * LINK_MS
"""HELLO, SUMMARY, SUBSCRIBE, NOTIFY: four trips in a contact with a mediator that knew nothing, and one
spare.
"""

LoggedContact = tuple[int, int, int, int]
"""(one node, the other, begin, end)."""

_LONGEST_S: Final = ((1 << 32) - 1) // 1_000
"""The longest lifetime: an age has four bytes, in milliseconds."""


def lifetime_ms(q: int) -> int:
    """Return the lifetime of a code, ⌊2^(q/8)⌋ seconds, by taking roots.

    >>> [lifetime_ms(q) for q in (0, 8, 12, 16)]
    [1000, 2000, 2000, 4000]
    """
    return 1_000 * min(isqrt(isqrt(isqrt(1 << q))), _LONGEST_S)


def earliest_arrivals(
    contacts: Sequence[LoggedContact],
    mediators: Container[int],
    source: int,
    ready_ms: int,
    *,
    trip_ms: int,
    delta_ms: int,
) -> dict[int, float]:
    """Return the earliest arrival at each reachable node of something that is ready at the source.

    What waits when a contact opens arrives `delta_ms` later, what comes later arrives after one trip, and
    what would arrive at or after the end does not (an ideal link, with no trip, delivers until the end).
    """
    at: dict[int, float] = {source: ready_ms}
    is_changing = True
    while is_changing:
        is_changing = False
        for a, b, begin_ms, end_ms in contacts:
            for node, peer in ((a, b), (b, a)):
                ready = at.get(node)
                if ready is None or ready > end_ms or (node != source and node not in mediators):
                    continue
                if node == source and peer not in mediators:
                    continue
                arrival = max(ready + trip_ms, begin_ms + delta_ms)
                if arrival + trip_ms <= end_ms and arrival < at.get(peer, inf):
                    at[peer] = arrival
                    is_changing = True
    return at
