"""Known results: the highest rank of every result so far, in whichever message, and until when it counts.

The key of a result is a digest of its identity. An expired result counts as unknown, so no timer is needed.
"""

from heapq import heapify, heappop, heappush
from typing import Final

UNKNOWN: Final = -1
"""The rank of an unknown result."""
Known = tuple[int, int, int]
"""Rank, time until which it is remembered, and origin of the first message with it."""


class KnownResults:
    """Highest ranks by digest of the identity.

    >>> known = KnownResults()
    >>> row = known.note(5, 0, 1_000, 7)
    >>> known.rank(5, 999), known.rank(5, 1_000), known.rank(6, 0)
    (0, -1, -1)
    """

    __slots__ = ("_by_origin", "_heap", "_known")

    def __init__(self) -> None:
        self._known: dict[int, Known] = {}
        self._by_origin: dict[int, dict[int, None]] = {}
        self._heap: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._known)

    def rank(self, key: int, now_ms: int) -> int:
        """Return the highest rank, `UNKNOWN` if there is none or it has expired."""
        known = self._known.get(key)
        return UNKNOWN if known is None or known[1] <= now_ms else known[0]

    def note(self, key: int, rank: int, until_ms: int, origin: int) -> bytes:
        """Remember the higher of this and the known rank until the later of both ends; return the row."""
        known = self._known.get(key)
        if known is not None:
            rank, until_ms, origin = max(rank, known[0]), max(until_ms, known[1]), known[2]
        self._put(key, (rank, until_ms, origin))
        return bytes((rank,)) + until_ms.to_bytes(8, "big", signed=True) + origin.to_bytes(4, "big")

    def restore(self, key: int, row: bytes) -> None:
        """Load a row."""
        until_ms = int.from_bytes(row[1:9], "big", signed=True)
        self._put(key, (row[0], until_ms, int.from_bytes(row[9:], "big")))

    def _put(self, key: int, known: Known) -> None:
        self._known[key] = known
        self._by_origin.setdefault(known[2], {})[key] = None
        heappush(self._heap, (known[1], key))
        if len(self._heap) > 64 + 4 * len(self._known):
            self._heap = [(entry[1], key) for key, entry in self._known.items()]
            heapify(self._heap)

    def forget(self, key: int) -> None:
        """Forget a result, if it is known."""
        known = self._known.pop(key, None)
        if known is not None:
            of_origin = self._by_origin[known[2]]
            del of_origin[key]
            if not of_origin:
                del self._by_origin[known[2]]

    def pop_forgotten(self, now_ms: int) -> int | None:
        """Forget and return an expired result, the earliest first, or None."""
        heap = self._heap
        while heap and heap[0][0] <= now_ms:
            until_ms, key = heappop(heap)
            known = self._known.get(key)
            if known is not None and known[1] == until_ms:
                self.forget(key)
                return key
        return None

    def count_of(self, origin: int) -> int:
        """Return the number of results that came first from this origin."""
        return len(self._by_origin.get(origin, ()))

    def oldest(self) -> int:
        """Return the oldest result."""
        return next(iter(self._known))

    def oldest_of(self, origin: int) -> int:
        """Return the oldest result of this origin."""
        return next(iter(self._by_origin[origin]))
