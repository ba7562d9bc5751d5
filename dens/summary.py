"""Which messages a node knows, in few bytes: per origin, ranges of numbers.

Numbers of one origin are mostly consecutive, so a node that knows a thousand notifications of ten publishers
says so in about forty bytes. On the air, all numbers being varints (seven bits a byte, least significant
first, shortest form):

    for each origin, ascending:    origin − previous origin − 1 (the first: origin)
                                   number of ranges − 1
      for each range, ascending:   start − previous end − 2 (the first: start)
                                   end − start
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping

from dens.errors import RemoteProtocolError
from dens.item import ItemId
from dens.numbers import LINK_NUMBER


class NumberRanges:
    """A set of numbers as sorted, separate ranges; cheap where the numbers are mostly consecutive."""

    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def __contains__(self, number: int) -> bool:
        position = bisect_right(self._starts, number) - 1
        return position >= 0 and number <= self._ends[position]

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges as (start, end), both inside."""
        return zip(self._starts, self._ends, strict=True)

    def add(self, number: int) -> None:
        """Hold this number; neighbours grow together."""
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
        """Forget this number; an unknown one is no error."""
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

    def minus(self, other: "NumberRanges | None") -> Iterator[int]:
        """Yield the numbers that are here and not there, ascending; what both hold costs next to nothing."""
        if other is None:
            for start, end in self:
                yield from range(start, end + 1)
            return
        starts, ends = other._starts, other._ends
        if starts == self._starts and ends == self._ends:
            return
        for number, end in self:
            position = bisect_right(ends, number - 1)  # the first range there that does not end before us
            while number <= end:
                gap_end = starts[position] - 1 if position < len(starts) else end
                yield from range(number, min(gap_end, end) + 1)
                if gap_end >= end:
                    break
                number = ends[position] + 1
                position += 1

    def append_range(self, start: int, end: int) -> None:
        """Hold a range that lies above all others and touches none."""
        self._starts.append(start)
        self._ends.append(end)


class Summary:
    """What a peer says it knows."""

    __slots__ = ("_by_origin",)

    def __init__(self, by_origin: Mapping[int, NumberRanges]) -> None:
        self._by_origin = by_origin

    def __contains__(self, item_id: ItemId) -> bool:
        ranges = self._by_origin.get(item_id[0])
        return ranges is not None and item_id[1] in ranges

    def ranges(self, origin: int) -> NumberRanges | None:
        """Return the numbers known of this origin, or None."""
        return self._by_origin.get(origin)

    def names(self, origin: int) -> bool:
        """Say whether any message of this origin is known."""
        return origin in self._by_origin


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def encode(by_origin: Iterable[tuple[int, NumberRanges]], most_bytes: int) -> bytes:
    """Return the summary of these origins (ascending, none empty).

    Where it would not fit, later ranges are left out: a peer then offers what is known here already, which
    costs time and loses nothing.
    """
    out = bytearray()
    previous_origin = -1
    for origin, ranges in by_origin:
        body: list[bytes] = []
        size = 8
        previous_end = -2
        for start, end in ranges:
            piece = _varint(start - previous_end - 2) + _varint(end - start)
            if len(out) + size + len(piece) > most_bytes:
                break
            body.append(piece)
            size += len(piece)
            previous_end = end
        if not body:
            break
        out += _varint(origin - previous_origin - 1) + _varint(len(body) - 1) + b"".join(body)
        previous_origin = origin
    return bytes(out)


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
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


def decode(data: bytes, position: int = 0) -> Summary:
    """Return the summary that starts at `position` and fills the rest; raise RemoteProtocolError for
    anything else.
    """
    by_origin: dict[int, NumberRanges] = {}
    origin = -1
    while position < len(data):
        step, position = _read_varint(data, position)
        origin += step + 1
        if origin > 0xFFFF:
            raise RemoteProtocolError("an origin has more than 16 bits", position)
        more, position = _read_varint(data, position)
        ranges = NumberRanges()
        end = -2
        for _ in range(more + 1):
            gap, position = _read_varint(data, position)
            length, position = _read_varint(data, position)
            start = end + 2 + gap
            end = start + length
            if end >= LINK_NUMBER:
                raise RemoteProtocolError("a range reaches beyond the numbers of messages", position)
            ranges.append_range(start, end)
        by_origin[origin] = ranges
    return Summary(by_origin)
