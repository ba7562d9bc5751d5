"""Summaries: the known messages of a node as ranges of numbers per origin.

Numbers of one origin are mostly consecutive, so a thousand notifications of ten publishers take about forty
bytes. Encoding, with varints (seven bits per byte, least significant first, shortest form):

    for each origin, ascending:    origin − previous origin − 1 (the first: origin − first of the interval)
                                   number of ranges − 1
      for each range, ascending:   start − previous end − 2 (the first: start)
                                   end − start
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from dens.overlay.errors import RemoteProtocolError
from dens.overlay.wire.codes import LAST_NODE, LINK_NUMBER
from dens.overlay.wire.item import NUMBER_BITS, NUMBER_MASK, ItemId

_UNFOLDED_MAX: Final = 1_024
"""Ids that are kept individually before they are folded into ranges."""


class NumberRanges:
    """A set of numbers as sorted, separate ranges; compact if the numbers are mostly consecutive."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, starts: list[int] | None = None, ends: list[int] | None = None) -> None:
        self._starts: list[int] = [] if starts is None else starts
        self._ends: list[int] = [] if ends is None else ends

    def __contains__(self, number: int) -> bool:
        position = bisect_right(self._starts, number) - 1
        return position >= 0 and number <= self._ends[position]

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges as (start, end), both inclusive."""
        return zip(self._starts, self._ends, strict=True)

    def add(self, number: int) -> None:
        """Add a number; adjacent ranges are merged."""
        starts, ends = self._starts, self._ends
        position = bisect_right(starts, number) - 1
        if position >= 0 and number <= ends[position]:
            return
        joins_left = position >= 0 and ends[position] == number - 1
        joins_right = position + 1 < len(starts) and starts[position + 1] == number + 1
        if joins_left and joins_right:
            ends[position] = ends.pop(position + 1)
            del starts[position + 1]
        elif joins_left:
            ends[position] = number
        elif joins_right:
            starts[position + 1] = number
        else:
            starts.insert(position + 1, number)
            ends.insert(position + 1, number)

    def discard(self, number: int) -> None:
        """Remove a number if it is there."""
        starts, ends = self._starts, self._ends
        position = bisect_right(starts, number) - 1
        if position < 0 or number > ends[position]:
            return
        start, end = starts[position], ends[position]
        if start == end:
            del starts[position], ends[position]
        elif number == start:
            starts[position] = number + 1
        elif number == end:
            ends[position] = number - 1
        else:
            ends[position] = number - 1
            starts.insert(position + 1, number + 1)
            ends.insert(position + 1, end)

    def minus(self, other: "NumberRanges | None") -> Iterable[int]:
        """Return the numbers that `other` lacks, ascending; common ranges cost next to nothing."""
        starts, ends = self._starts, self._ends
        if other is None:
            if len(starts) == 1:
                return range(starts[0], ends[0] + 1)
            return chain.from_iterable(range(start, end + 1) for start, end in self)
        if other._starts == starts:
            if other._ends == ends:
                return ()
            if len(starts) == 1:  # The usual case: one of two nodes is a little behind.
                return range(other._ends[0] + 1, ends[0] + 1)
        return self._minus(other._starts, other._ends)

    def _minus(self, starts: list[int], ends: list[int]) -> Iterator[int]:
        for number, end in self:
            position = bisect_right(
                ends, number - 1
            )  # the first range of the other that does not end before `number`
            while number <= end:
                gap_end = starts[position] - 1 if position < len(starts) else end
                yield from range(number, min(gap_end, end) + 1)
                if gap_end >= end:
                    break
                number = ends[position] + 1
                position += 1

    def encode(self, most_bytes: int) -> bytes:
        """Return the number of ranges minus one, and as many ranges as fit, the lowest first; nothing if not
        even one fits.
        """
        starts, ends = self._starts, self._ends
        if len(starts) == 1 and ends[0] < 0x80 and most_bytes > 2:
            return bytes((0, starts[0], ends[0] - starts[0]))
        body = bytearray()
        previous_end = -2
        count = 0
        for start, end in zip(starts, ends, strict=True):
            gap, length = start - previous_end - 2, end - start
            piece = varint(gap) + varint(length)
            if len(body) + len(piece) + 5 > most_bytes:
                break
            body += piece
            previous_end = end
            count += 1
        return varint(count - 1) + body if count else b""


_NONE: Final[dict[int, "NumberRanges"]] = {}
"""Shared and never written to: hardly any contact folds its ids."""


class RecentIds:
    """Message ids: a set while they are few, folded into ranges when they become many. Beyond `most_ranges`
    ranges the earlier half is forgotten, so that a peer that chooses the numbers cannot choose the memory.

    `recent` and `is_folded` are public for reading: most queried ids are in `recent` or nowhere.
    """

    __slots__ = ("_earlier", "_folded", "_most_ranges", "_unfolded_max", "is_folded", "recent")

    def __init__(self, most_ranges: int, unfolded_max: int = _UNFOLDED_MAX) -> None:
        self._unfolded_max = min(unfolded_max, most_ranges)
        self._most_ranges = most_ranges
        self.recent: Final[set[ItemId]] = set()
        self.is_folded = False
        self._folded = _NONE
        self._earlier = _NONE

    def __len__(self) -> int:
        """Return the number of individual ids and ranges."""
        return len(self.recent) + _ranges_in(self._folded) + _ranges_in(self._earlier)

    def __contains__(self, item_id: ItemId) -> bool:
        if item_id in self.recent:
            return True
        origin, number = item_id >> NUMBER_BITS, item_id & NUMBER_MASK
        for by_origin in (self._folded, self._earlier):
            ranges = by_origin.get(origin)
            if ranges is not None and number in ranges:
                return True
        return False

    def add(self, item_id: ItemId) -> None:
        """Add an id; fold all if there are too many."""
        recent = self.recent
        recent.add(item_id)
        if len(recent) > self._unfolded_max:
            if not self.is_folded:
                self.is_folded, self._folded = True, {}
            for recent_id in recent:
                ranges = self._folded.setdefault(recent_id >> NUMBER_BITS, NumberRanges())
                ranges.add(recent_id & NUMBER_MASK)
            recent.clear()
            if 2 * _ranges_in(self._folded) > self._most_ranges:
                self._earlier, self._folded = self._folded, {}

    def discard(self, item_id: ItemId) -> None:
        """Remove an id if it is there."""
        self.recent.discard(item_id)
        for by_origin in (self._folded, self._earlier):
            ranges = by_origin.get(item_id >> NUMBER_BITS)
            if ranges is not None:
                ranges.discard(item_id & NUMBER_MASK)


def _ranges_in(by_origin: Mapping[int, NumberRanges]) -> int:
    return sum(map(len, by_origin.values()))


class Summary:
    """The known messages of a peer.

    After a comparison with this node's own (`KnownItems.compare`) it has only the origins that differ, and in
    `lacking` the messages that the peer lacks.
    """

    __slots__ = ("_by_origin", "_ranges", "lacking")

    def __init__(self, by_origin: dict[int, NumberRanges], lacking: Sequence[ItemId] = ()) -> None:
        self._by_origin = by_origin
        self._ranges: int | None = None
        self.lacking = lacking

    def extend(self, other: "Summary", most_ranges: int) -> None:
        """Add another part if its ranges fit: a peer that sends parts cannot choose the memory. What is left
        out may be offered once more.
        """
        self.lacking = [*self.lacking, *other.lacking]
        if self._ranges is None:
            self._ranges = _ranges_in(self._by_origin)
        ranges = self._ranges + _ranges_in(other._by_origin)
        if ranges <= most_ranges:
            self._by_origin.update(other._by_origin)
            self._ranges = ranges

    def __contains__(self, item_id: ItemId) -> bool:
        ranges = self._by_origin.get(item_id >> NUMBER_BITS)
        return ranges is not None and item_id & NUMBER_MASK in ranges

    def ranges(self, origin: int) -> NumberRanges | None:
        """Return the known numbers of this origin, or None."""
        return self._by_origin.get(origin)

    def names(self, origin: int) -> bool:
        """Return whether any message of this origin is known."""
        return origin in self._by_origin


def varint(number: int) -> bytes:
    """Return a number in seven bits per byte, least significant first."""
    if number < 0x80:
        return bytes((number,))
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def encode(by_origin: Iterable[tuple[int, NumberRanges]], most_bytes: int) -> bytes:
    """Return the summary of these origins (ascending, none empty).

    If it does not fit, later ranges are left out: a peer then offers messages that are known already, which
    costs time and loses nothing.
    """
    out = bytearray()
    previous_origin = -1
    for origin, ranges in by_origin:
        step = varint(origin - previous_origin - 1)
        chunk = ranges.encode(most_bytes - len(out) - len(step))
        if not chunk:
            break
        out += step
        out += chunk
        previous_origin = origin
    return bytes(out)


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the number at this position and the position after it, or raise RemoteProtocolError."""
    number = shift = 0
    while True:
        if position >= len(data):
            raise RemoteProtocolError("a summary ends within a number", position)
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            if not byte and shift:
                raise RemoteProtocolError("a number is not in its shortest form", position - 1)
            return number, position
        shift += 7
        if shift > 28:
            raise RemoteProtocolError("a number has more than 32 bits", position)


def read_origin(data: bytes, position: int, previous_origin: int) -> tuple[int, NumberRanges, int]:
    """Return the origin at this position, its ranges and the position after them, or raise
    RemoteProtocolError.

    Nearly all numbers have one byte, so these are read inline.
    """
    size = len(data)
    if position + 1 < size and (step := data[position]) < 0x80 and (more := data[position + 1]) < 0x80:
        position += 2
    else:
        step, position = read_varint(data, position)
        more, position = read_varint(data, position)
    origin = previous_origin + step + 1
    if origin > LAST_NODE:
        raise RemoteProtocolError("an origin has more than 31 bits", position)
    starts: list[int] = []
    ends: list[int] = []
    end = -2
    for _ in range(more + 1):
        if position + 1 < size and (gap := data[position]) < 0x80 and (length := data[position + 1]) < 0x80:
            position += 2
        else:
            gap, position = read_varint(data, position)
            length, position = read_varint(data, position)
        start = end + 2 + gap
        end = start + length
        if end >= LINK_NUMBER:
            raise RemoteProtocolError("a range reaches beyond the numbers of messages", position)
        starts.append(start)
        ends.append(end)
    return origin, NumberRanges(starts, ends), position


def decode(data: bytes, position: int = 0, first: int = 0, last: int = LAST_NODE) -> Summary:
    """Return the summary of the origins from `first` to `last` that fills `data` from `position` on, or raise
    RemoteProtocolError.
    """
    by_origin: dict[int, NumberRanges] = {}
    origin = first - 1
    while position < len(data):
        origin, ranges, position = read_origin(data, position, origin)
        if origin > last:
            raise RemoteProtocolError(f"origin {origin} is not within {first} to {last}", position)
        by_origin[origin] = ranges
    return Summary(by_origin)
