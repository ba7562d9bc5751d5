"""What was said already, by whichever message: of every result the highest rank, and until when it counts.

A result is known by a digest of its identity. What is over counts as unknown wherever it is asked, so nobody
is woken to forget it.
"""

from heapq import heapify, heappop, heappush
from typing import Final

UNKNOWN: Final = -1
"""The rank of what nobody has said."""
Known = tuple[int, int, int]
"""Rank, until when it is remembered, and the origin of the message that said it first."""


class KnownResults:
    """Digests of identities, with the highest rank of each.

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
        """Return the highest rank that was said, `UNKNOWN` where none was or it is over."""
        known = self._known.get(key)
        return UNKNOWN if known is None or known[1] <= now_ms else known[0]

    def note(self, key: int, rank: int, until_ms: int, origin: int) -> bytes:
        """Remember a result at this rank, or the higher one that is known, until the later of both ends;
        return its row.
        """
        known = self._known.get(key)
        if known is not None:
            rank, until_ms, origin = max(rank, known[0]), max(until_ms, known[1]), known[2]
        self._put(key, (rank, until_ms, origin))
        return bytes((rank,)) + until_ms.to_bytes(8, "big", signed=True) + origin.to_bytes(4, "big")

    def restore(self, key: int, row: bytes) -> None:
        """Remember what a row says."""
        until_ms = int.from_bytes(row[1:9], "big", signed=True)
        self._put(key, (row[0], until_ms, int.from_bytes(row[9:], "big")))

    def _put(self, key: int, known: Known) -> None:
        self._known[key] = known
        self._by_origin.setdefault(known[2], {})[key] = None
        heappush(self._heap, (known[1], key))
        if len(self._heap) > 64 + 4 * len(self._known):
            self._heap = [(one[1], key) for key, one in self._known.items()]
            heapify(self._heap)

    def forget(self, key: int) -> None:
        """Forget a result; an unknown one is no error."""
        known = self._known.pop(key, None)
        if known is not None:
            of_origin = self._by_origin[known[2]]
            del of_origin[key]
            if not of_origin:
                del self._by_origin[known[2]]

    def pop_forgotten(self, now_ms: int) -> int | None:
        """Forget and return a result that is over, the earliest first, or None."""
        heap = self._heap
        while heap and heap[0][0] <= now_ms:
            until_ms, key = heappop(heap)
            known = self._known.get(key)
            if known is not None and known[1] == until_ms:
                self.forget(key)
                return key
        return None

    def count_of(self, origin: int) -> int:
        """Return how many were said first by this origin."""
        return len(self._by_origin.get(origin, ()))

    def oldest(self) -> int:
        """Return the one that was said longest ago."""
        return next(iter(self._known))

    def oldest_of(self, origin: int) -> int:
        """Return the one that this origin said longest ago."""
        return next(iter(self._by_origin[origin]))
