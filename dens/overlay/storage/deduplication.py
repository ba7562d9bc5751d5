"""Deduplication: the ids of all messages that a node knows, so that it neither accepts nor requests one
twice.

A message is known from its reception until some time after its lifetime, when no node offers it any more. It
is *held* first, and *released* when it was replaced, withdrawn, dropped or has expired. Two heaps find the
ends: held messages expire on time, because an event reports it; released ones are forgotten at the next
opportunity, without a timer. A heap is rebuilt when most of its entries are obsolete.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import Final

from dens.overlay.errors import RemoteProtocolError
from dens.overlay.wire.codes import LAST_NODE
from dens.overlay.wire.item import NEVER_MS, NUMBER_BITS, NUMBER_MASK, ItemId
from dens.overlay.wire.summary import NumberRanges, Summary, encode, read_origin, varint

_ORIGIN_BYTES_MAX: Final = 1 << 20
"""Enough for the ranges of one origin."""
_SCAN_MAX: Final = 64
"""Numbers of a peer that are examined to find a later one."""
_NONE: Final = -2
"""Neither an origin nor the one before the first."""


class KnownItems:
    """Message ids with the local time until which each is remembered."""

    __slots__ = (
        "_by_origin",
        "_changed",
        "_chunks",
        "_encoded",
        "_heap",
        "_origins",
        "_pieces",
        "_released",
        "_released_by_origin",
        "_released_heap",
        "ends",
        "forget_ms",
        "wake_ms",
    )

    def __init__(self) -> None:
        self._by_origin: dict[int, NumberRanges] = {}
        self.ends: Final[dict[ItemId, int]] = {}
        """Time until which each id is remembered; for reading."""
        self._released: dict[ItemId, None] = {}
        self._released_by_origin: dict[int, dict[ItemId, None]] = {}
        self._heap: list[tuple[int, ItemId]] = []
        self.wake_ms = NEVER_MS
        """When to call `pop_expired`: never later than the next expiry."""
        self._released_heap: list[tuple[int, ItemId]] = []
        self.forget_ms = NEVER_MS
        """When to call `pop_forgotten`: never later than the next one."""
        self._changed: set[int] = set()
        self._origins: list[int] = []
        self._chunks: list[bytes] = []
        self._pieces: list[bytes] = []
        self._encoded = b""

    def __contains__(self, item_id: ItemId) -> bool:
        return item_id in self.ends

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def released_count(self) -> int:
        """Return the number of released messages."""
        return len(self._released)

    def add(self, item_id: ItemId, until_ms: int) -> None:
        """Add a held message."""
        self.ends[item_id] = until_ms
        heappush(self._heap, (until_ms, item_id))
        if until_ms < self.wake_ms:
            self.wake_ms = until_ms
        self._note_known(item_id)
        if len(self._heap) > 64 + 4 * (len(self.ends) - len(self._released)):
            self._heap = [(end_ms, held) for held, end_ms in self.ends.items() if held not in self._released]
            heapify(self._heap)

    def _note_known(self, item_id: ItemId) -> None:
        origin, number = item_id >> NUMBER_BITS, item_id & NUMBER_MASK
        ranges = self._by_origin.get(origin)
        if ranges is None:
            ranges = self._by_origin[origin] = NumberRanges()
        ranges.add(number)
        self._changed.add(origin)

    def add_released(self, item_id: ItemId, until_ms: int) -> None:
        """Add a message that is not held."""
        self._note_known(item_id)
        self.mark_released(item_id, until_ms)

    def mark_released(self, item_id: ItemId, until_ms: int) -> None:
        """Mark a known message as released, and remember it until then."""
        self.ends[item_id] = until_ms
        heappush(self._released_heap, (until_ms, item_id))
        if until_ms < self.forget_ms:
            self.forget_ms = until_ms
        self._note_released(item_id)
        if len(self._released_heap) > 64 + 4 * len(self._released):
            self._released_heap = [(self.ends[released], released) for released in self._released]
            heapify(self._released_heap)

    def _note_released(self, item_id: ItemId) -> None:
        self._released[item_id] = None
        self._released_by_origin.setdefault(item_id >> NUMBER_BITS, {})[item_id] = None

    def released_count_of(self, origin: int) -> int:
        """Return the number of released messages of an origin."""
        return len(self._released_by_origin.get(origin, ()))

    def oldest_released(self) -> ItemId:
        """Return the message that was released first."""
        return next(iter(self._released))

    def oldest_released_of(self, origin: int) -> ItemId:
        """Return the message of this origin that was released first."""
        return next(iter(self._released_by_origin[origin]))

    def forget(self, item_id: ItemId) -> None:
        """Forget a message, if it is known."""
        if self.ends.pop(item_id, None) is None:
            return
        origin, number = item_id >> NUMBER_BITS, item_id & NUMBER_MASK
        if item_id in self._released:
            del self._released[item_id]
            of_origin = self._released_by_origin[origin]
            del of_origin[item_id]
            if not of_origin:
                del self._released_by_origin[origin]
        ranges = self._by_origin[origin]
        ranges.discard(number)
        if not ranges:
            del self._by_origin[origin]
        self._changed.add(origin)

    def pop_expired(self, now_ms: int) -> tuple[ItemId, int] | None:
        """Return an expired held message and its end, the earliest first, or None. Each is returned once:
        `forget` or `mark_released` must follow.
        """
        expired = None
        heap = self._heap
        while expired is None and heap and heap[0][0] <= now_ms:
            end_ms, item_id = heappop(heap)
            if self.ends.get(item_id) == end_ms and item_id not in self._released:
                expired = item_id, end_ms
        self.wake_ms = heap[0][0] if heap else NEVER_MS
        return expired

    def pop_forgotten(self, now_ms: int) -> ItemId | None:
        """Forget and return a released message whose time is over, the earliest first, or None."""
        forgotten = None
        heap = self._released_heap
        while forgotten is None and heap and heap[0][0] <= now_ms:
            end_ms, item_id = heappop(heap)
            if self.ends.get(item_id) == end_ms and item_id in self._released:
                self.forget(item_id)
                forgotten = item_id
        self.forget_ms = heap[0][0] if heap else NEVER_MS
        return forgotten

    def lacking_of(self, origin: int, summary: Summary) -> Iterator[ItemId]:
        """Yield the messages of an origin that a summary lacks, by number."""
        ranges = self._by_origin.get(origin)
        if ranges is not None:
            for number in ranges.minus(summary.ranges(origin)):
                yield origin << NUMBER_BITS | number

    def knows_after(self, origin: int, number: int, named: NumberRanges) -> bool:
        """Return whether all named numbers of this origin after `number` are known; False if that would take
        long to find out.
        """
        unknown = enumerate(named.minus(self._by_origin.get(origin)))
        return all(missing <= number and place < _SCAN_MAX for place, missing in unknown)

    def _refresh(self) -> bytes:
        """Return the summary of all known messages, of any length; only changed origins are encoded again.

        The piece of an origin in the summary is its distance from the origin before, and its chunk (the
        ranges).
        """
        if not self._changed:
            return self._encoded
        origins, chunks, pieces = self._origins, self._chunks, self._pieces
        for origin in self._changed:
            ranges = self._by_origin.get(origin)
            place = bisect_left(origins, origin)
            is_new = place == len(origins) or origins[place] != origin
            if ranges is None:
                if not is_new:
                    del origins[place], chunks[place], pieces[place]
                    self._renew(place)
                continue
            chunk = ranges.encode(_ORIGIN_BYTES_MAX)
            if is_new:
                origins.insert(place, origin)
                chunks.insert(place, chunk)
                pieces.insert(place, chunk)
                self._renew(place + 1)
            else:
                chunks[place] = chunk
            self._renew(place)
        self._changed.clear()
        self._encoded = b"".join(pieces)
        return self._encoded

    def _renew(self, place: int) -> None:
        """Rebuild a piece, if there is one: its chunk or the origin before it has changed."""
        origins = self._origins
        if place < len(origins):
            step = origins[place] - (origins[place - 1] if place else -1) - 1
            self._pieces[place] = varint(step) + self._chunks[place]

    def encode_part(self, first: int, last: int | None, most_bytes: int) -> tuple[bytes, int]:
        """Return the summary of the origins from `first` to `last`, and the last one (None: as many as fit).
        If an interval that was fixed earlier has outgrown the limit, or one origin exceeds it, later ranges
        are left out: the peer then offers messages that are known already.
        """
        encoded = self._refresh()
        end = LAST_NODE if last is None else last
        if not first and end == LAST_NODE and len(encoded) <= most_bytes:
            return encoded, LAST_NODE
        origins = self._origins
        place, behind = bisect_left(origins, first), bisect_right(origins, end)
        out = bytearray(self._first_piece(place, first) if place < behind else b"")
        if len(out) <= most_bytes:
            place += 1
            for piece in self._pieces[place:behind]:
                if len(out) + len(piece) > most_bytes:
                    break
                out += piece
                place += 1
            if place >= behind:
                return bytes(out), end
            if last is None:
                return bytes(out), origins[place] - 1
        else:
            out.clear()
        origin = origins[place]
        step = varint(origin - (origins[place - 1] if out else first - 1) - 1)
        chunk = self._by_origin[origin].encode(most_bytes - len(out) - len(step))
        if chunk:
            out += step + chunk
        return bytes(out), origin if last is None else last

    def _first_piece(self, place: int, first: int) -> bytes:
        """Return the piece of the first origin of an interval."""
        return varint(self._origins[place] - first) + self._chunks[place]

    def compare(self, encoded: bytes, first: int = 0, last: int = LAST_NODE) -> Summary:
        """Return how the summary of a peer differs from this node's for the origins from `first` to `last`,
        and the messages that the peer lacks, by origin and number; or raise RemoteProtocolError.

        No piece is a prefix of another, so bytes that continue with a piece of ours are equal for that origin
        and are skipped. Messages that both nodes know therefore cost next to nothing.
        """
        if encoded == self._refresh() and not first and last == LAST_NODE:
            return Summary({})
        differing: dict[int, NumberRanges] = {}
        lacking: list[ItemId] = []
        origins, pieces, known = self._origins, self._pieces, self._by_origin
        place, behind = bisect_left(origins, first), bisect_right(origins, last)
        position, size = 0, len(encoded)
        ours = theirs = first - 1  # the origin before
        if first and place < behind:
            piece = self._first_piece(place, first)
            if encoded.startswith(piece):
                position = len(piece)
                ours = theirs = origins[place]
                place += 1
            else:
                ours = _NONE
        while position < size:
            if ours == theirs:
                while place < behind and encoded.startswith(pieces[place], position):
                    position += len(pieces[place])
                    ours = theirs = origins[place]
                    place += 1
                if position >= size:
                    break
            theirs, ranges, position = read_origin(encoded, position, theirs)
            if theirs > last:
                raise RemoteProtocolError(f"origin {theirs} is not within {first} to {last}", position)
            differing[theirs] = ranges
            while place < behind and origins[place] <= theirs:
                ours = origins[place]
                missing = known[ours].minus(ranges if ours == theirs else None)
                lacking += [ours << NUMBER_BITS | number for number in missing]
                place += 1
        for origin in origins[place:behind]:
            lacking += [origin << NUMBER_BITS | number for number in known[origin].minus(None)]
        return Summary(differing, lacking)

    def encode_only(self, origin: int, most_bytes: int) -> bytes:
        """Return the summary of one origin."""
        ranges = self._by_origin.get(origin)
        return b"" if ranges is None else encode([(origin, ranges)], most_bytes)

    def encode_others(self, origin: int, most_bytes: int) -> bytes:
        """Return the summary of all origins but this one."""
        return encode(
            sorted((other, ranges) for other, ranges in self._by_origin.items() if other != origin),
            most_bytes,
        )
