"""What a node has seen, so that it neither takes nor asks for anything twice.

A message is known from the moment it was taken, whether it is still held or was done with earlier (replaced,
withdrawn, dropped, expired), until some time after its lifetime, when nobody offers it any more. Ends are
found with a heap.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Final

from dens.item import ItemId
from dens.summary import NumberRanges, Summary, decode, encode

_SURELY_WHOLE_BYTES: Final = 40_000
"""A summary that had to leave something out is longer than this (`most_bytes` is 48,000)."""


class KnownItems:
    """Identities with the local time until which each is remembered."""

    __slots__ = ("_by_origin", "_done", "_done_by_origin", "_encoded", "_ends", "_heap", "_summary")

    def __init__(self) -> None:
        self._by_origin: dict[int, NumberRanges] = {}
        self._ends: dict[ItemId, int] = {}
        self._done: dict[ItemId, None] = {}
        self._done_by_origin: dict[int, dict[ItemId, None]] = {}
        self._heap: list[tuple[int, ItemId]] = []
        self._encoded: bytes | None = None
        self._summary: Summary | None = None

    def __contains__(self, item_id: ItemId) -> bool:
        return item_id in self._ends

    def __len__(self) -> int:
        return len(self._ends)

    @property
    def done_count(self) -> int:
        """Return how many are remembered that are no longer held."""
        return len(self._done)

    def add(self, item_id: ItemId, until_ms: int) -> None:
        """Remember this message until then."""
        self._ends[item_id] = until_ms
        heappush(self._heap, (until_ms, item_id))
        origin, number = item_id
        ranges = self._by_origin.get(origin)
        if ranges is None:
            ranges = self._by_origin[origin] = NumberRanges()
        ranges.add(number)
        self._encoded = self._summary = None

    def add_done(self, item_id: ItemId, until_ms: int) -> None:
        """Remember until then a message that is not, or no longer, held."""
        self.add(item_id, until_ms)
        self._done[item_id] = None
        self._done_by_origin.setdefault(item_id[0], {})[item_id] = None

    def done_count_of(self, origin: int) -> int:
        """Return how many of one origin are remembered that are no longer held."""
        return len(self._done_by_origin.get(origin, ()))

    def oldest_done(self) -> ItemId:
        """Return the one that has been done with for longest."""
        return next(iter(self._done))

    def oldest_done_of(self, origin: int) -> ItemId:
        """Return the one of this origin that has been done with for longest."""
        return next(iter(self._done_by_origin[origin]))

    def forget(self, item_id: ItemId) -> None:
        """Forget it now; an unknown one is no error."""
        if self._ends.pop(item_id, None) is None:
            return
        origin, number = item_id
        if item_id in self._done:
            del self._done[item_id]
            of_origin = self._done_by_origin[origin]
            del of_origin[item_id]
            if not of_origin:
                del self._done_by_origin[origin]
        ranges = self._by_origin[origin]
        ranges.discard(number)
        if not ranges:
            del self._by_origin[origin]
        self._encoded = self._summary = None

    def next_end_ms(self) -> int | None:
        """Return when the next one is over, or None."""
        heap, ends = self._heap, self._ends
        while heap and ends.get(heap[0][1]) != heap[0][0]:
            heappop(heap)
        return heap[0][0] if heap else None

    def pop_ended(self, now_ms: int) -> tuple[ItemId, int] | None:
        """Forget and return one whose time is over, with its end, or None. The earliest comes first."""
        end_ms = self.next_end_ms()
        if end_ms is None or end_ms > now_ms:
            return None
        _, item_id = heappop(self._heap)
        self.forget(item_id)
        return item_id, end_ms

    def lacking(self, summary: Summary) -> Iterator[ItemId]:
        """Yield what is known here and not there, by origin and number."""
        if summary is self._summary:
            return
        for origin in sorted(self._by_origin):
            yield from self.lacking_of(origin, summary)

    def lacking_of(self, origin: int, summary: Summary) -> Iterator[ItemId]:
        """Yield what is known here of one origin and not there, by number."""
        ranges = self._by_origin.get(origin)
        if ranges is not None:
            for number in ranges.minus(summary.ranges(origin)):
                yield (origin, number)

    def encode_all(self, most_bytes: int) -> bytes:
        """Return the summary of everything known."""
        if self._encoded is None:
            self._encoded = encode(sorted(self._by_origin.items()), most_bytes)
        return self._encoded

    def summary_if_same(self, encoded: bytes) -> Summary | None:
        """Return what a peer's summary says without reading it, where it says exactly what is known here.

        In a network at rest nearly every summary does. Bytes so long that something may have been left out
        are not compared.
        """
        if encoded != self._encoded or len(encoded) > _SURELY_WHOLE_BYTES:
            return None
        if self._summary is None:
            self._summary = decode(encoded)
        return self._summary

    def encode_only(self, origin: int, most_bytes: int) -> bytes:
        """Return the summary of what is known of one origin."""
        ranges = self._by_origin.get(origin)
        return b"" if ranges is None else encode([(origin, ranges)], most_bytes)

    def encode_others(self, origin: int, most_bytes: int) -> bytes:
        """Return the summary of what is known of every other origin."""
        return encode(
            sorted((other, ranges) for other, ranges in self._by_origin.items() if other != origin),
            most_bytes,
        )
