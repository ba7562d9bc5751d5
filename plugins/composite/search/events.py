"""Stored events of a composer, and their order.

An event is a reading: source, class, number, timestamp. Several notifications of it are one event, with the
union of their values and satisfied primitives. Timestamps count a source's own seconds modulo 65,536; a
source that restarts counts again. So its events fall into *runs* of its clock: those whose offsets (local
time less timestamp) are close together. Source and run are a *stream*, in which timestamps can be compared.
"""

from bisect import bisect_left, insort
from typing import Final

from plugins.composite.bounds import CLOCK_TOLERANCE_MS

NUMBERS: Final = 65_536
"""Numbers and timestamps are serial, modulo this."""
_CLOCK_MS: Final = 1_000 * NUMBERS
RANK_BITS: Final = 24
"""An order key is seconds shifted by this, plus the rank of the number among readings of that second."""
ANY_BITS: Final = RANK_BITS + 8 + 27 + 31
"""The same over all sources: seconds, source, run, class, rank."""
_RANK_ZERO: Final = 1 << 20


class Stream:
    """One run of a source's clock. `reference_ms` is one of its offsets, for unrolling timestamps."""

    __slots__ = (
        "anchors",
        "latest_s",
        "local_s",
        "members",
        "newest",
        "offsets",
        "reference_ms",
        "source",
        "stacks",
        "top",
    )

    def __init__(self, source: int, reference_ms: int) -> None:
        self.source = source
        self.reference_ms = reference_ms
        self.latest_s = -(1 << 60)
        """Second of the newest event."""
        self.local_s = 0
        """Unrolled timestamps plus this are local time, by the least delayed notification."""
        self.anchors: dict[tuple[int, int], list[int]] = {}
        """By class and second: the number from which others of that second are counted, and their count."""
        self.newest: dict[int, tuple[int, int]] = {}
        """Number and second of the newest reading of each class."""
        self.members: dict[Event, None] = {}
        """Its stored events."""
        self.stacks: dict[int, list[Event]] = {}
        """Candidates without a key, by primitive."""
        self.top = -1
        """No key so far is above this one: an event above it is the newest of every stack."""
        self.offsets: list[int] = []
        """Local time less timestamp of each notification, not modulo anything, ascending."""

    def seconds(self, stamp_s: int, event_ms: int) -> int:
        """Return a timestamp unrolled: equal modulo 65,536, in the right cycle for that time."""
        laps = (event_ms - 1_000 * stamp_s - self.reference_ms + _CLOCK_MS // 2) // _CLOCK_MS
        return stamp_s + NUMBERS * laps

    def key(self, event: int, number: int, seconds: int) -> int:
        """Return the order key of a new reading among those of its class."""
        anchored = self.anchors.setdefault((event, seconds), [number, 0])
        anchored[1] += 1
        anchor = anchored[0]
        serial = (number - anchor + NUMBERS // 2) % NUMBERS - NUMBERS // 2
        return (seconds << RANK_BITS) + _RANK_ZERO + anchor + serial

    def is_too_fast(self, event: int, number: int, seconds: int, window_s: int) -> bool:
        """Return whether numbers grew so fast since the newest reading of a class that half of the range fits
        into a window: then the order of two numbers is ambiguous.
        """
        newest = self.newest.get(event)
        if newest is None or seconds > newest[1]:
            self.newest[event] = number, seconds
        if newest is None or seconds <= newest[1]:
            return False
        grown = (number - newest[0]) % NUMBERS
        return grown < NUMBERS // 2 and grown * window_s >= (NUMBERS // 2) * (seconds - newest[1])

    def left(self, event: int, seconds: int) -> None:
        """Account for the removal of a reading that has a key."""
        anchored = self.anchors[event, seconds]
        anchored[1] -= 1
        if not anchored[1]:
            del self.anchors[event, seconds]

    def is_moved(self) -> bool:
        """Update the stream's local time by its least offset; return whether it changed, in whole seconds."""
        local_s = (self.offsets[0] if self.offsets else self.reference_ms) // 1_000
        moved = local_s != self.local_s
        self.local_s = local_s
        return moved


class Event:
    """A reading of which a notification is held."""

    __slots__ = (
        "any_key",
        "degrees",
        "event",
        "event_ms",
        "key",
        "left_out",
        "number",
        "reported",
        "seconds",
        "stamp_s",
        "stream",
        "values",
    )

    def __init__(self, stream: Stream, event: int, number: int, stamp_s: int, seconds: int, key: int) -> None:
        self.stream = stream
        self.event = event
        self.number = number
        self.stamp_s = stamp_s
        self.seconds = seconds
        self.key = key
        self.any_key = 0
        """Its key in the order of all sources; 0 if not needed."""
        self.event_ms = 1 << 60
        """Earliest event time among its notifications."""
        self.values: dict[int, int] = {}
        self.degrees: dict[int, int] = {}
        """The primitives that it satisfies, with degrees."""
        self.left_out: dict[tuple[tuple[int, int], bytes], int] = {}
        """Number of matches ending with it that `all` does not report, by subscription and key."""
        self.reported: list[tuple[set[tuple[object, ...]], tuple[object, ...]]] = []
        """Sets of reported results that end with it, with the name of each."""

    @property
    def name(self) -> tuple[int, int, int, int]:
        """Return source, class, number and stamp."""
        return self.stream.source, self.event, self.number, self.stamp_s

    def place_among_all(self) -> None:
        """Compute its key in the order of all sources."""
        key = (self.seconds + self.stream.local_s) << 31 | self.stream.source
        key = key << 27 | self.stream.reference_ms % _CLOCK_MS
        self.any_key = (key << 8 | self.event) << RANK_BITS | self.key & ((1 << RANK_BITS) - 1)


class SourceClock:
    """The runs of one source's clock, by single linkage of offsets on the circle of 65,536 seconds."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._places: list[tuple[int, int]] = []
        """Offset on the circle and item of every notification, sorted."""
        self._streams: dict[int, Stream] = {}
        self._unrolled: dict[int, int] = {}
        self._only: Stream | None = None
        """The only run, while there is only one: then most notifications need no search."""

    def __len__(self) -> int:
        return len(self._places)

    @property
    def items(self) -> list[int]:
        return [item for _, item in self._places]

    @property
    def streams(self) -> list[Stream]:
        """Return the distinct runs."""
        return list({id(stream): stream for stream in self._streams.values()}.values())

    @property
    def runs(self) -> int:
        """Return the number of streams."""
        return len(self.streams)

    def add(self, item: int, stamp_s: int, event_ms: int) -> Stream | None:
        """Return the stream of a new notification, or None if it joins two: then all notifications of the
        source must be placed again (`settle`).
        """
        offset = event_ms - 1_000 * stamp_s
        place = offset % _CLOCK_MS, item
        only = self._only
        if only is not None and abs(offset - only.offsets[-1]) <= CLOCK_TOLERANCE_MS:
            if place > self._places[-1]:
                self._places.append(place)
            else:
                insort(self._places, place)
            self._join(item, offset, only)
            return only
        near = {id(stream): stream for stream in self._neighbours(place)}
        insort(self._places, place)
        if len(near) > 1:
            self._streams[item] = next(iter(near.values()))
            self._unrolled[item] = offset
            return None
        is_first = not self._streams
        stream = next(iter(near.values())) if near else Stream(self._source, offset)
        self._join(item, offset, stream)
        self._only = stream if is_first or (near and stream is only) else None
        return stream

    def remove(self, item: int) -> bool:
        """Remove a notification; return whether its run splits, so that all must be placed again."""
        self._only = None
        offset = self._unrolled.pop(item)
        stream = self._streams.pop(item)
        place = offset % _CLOCK_MS, item
        at = bisect_left(self._places, place)
        del self._places[at]
        if stream.offsets:
            del stream.offsets[bisect_left(stream.offsets, self._level(stream, offset))]
        if len(self._places) < 2:
            return False
        before, after = self._places[at - 1], self._places[at % len(self._places)]
        split = (after[0] - before[0]) % _CLOCK_MS > CLOCK_TOLERANCE_MS
        return split and self._streams[before[1]] is stream and self._streams[after[1]] is stream

    def settle(self) -> None:
        """Compute the runs again."""
        self._only = None
        places = self._places
        count = len(places)
        gaps = [
            at for at in range(count) if (places[at][0] - places[at - 1][0]) % _CLOCK_MS > CLOCK_TOLERANCE_MS
        ]
        start = gaps[0] if gaps else 0
        stream: Stream | None = None
        for step in range(count):
            at = (start + step) % count
            item = places[at][1]
            if stream is None or (gaps and at in gaps):
                stream = Stream(self._source, self._unrolled[item])
            self._join(item, self._unrolled[item], stream)

    def stream(self, item: int) -> Stream:
        return self._streams[item]

    def _join(self, item: int, offset: int, stream: Stream) -> None:
        self._streams[item] = stream
        self._unrolled[item] = offset
        level, offsets = self._level(stream, offset), stream.offsets
        if not offsets or level >= offsets[-1]:
            offsets.append(level)
        else:
            insort(offsets, level)

    @staticmethod
    def _level(stream: Stream, offset: int) -> int:
        """Return an offset without whole cycles of the timestamps: those of one stream are close together."""
        laps = (offset - stream.reference_ms + _CLOCK_MS // 2) // _CLOCK_MS
        return offset - laps * _CLOCK_MS

    def _neighbours(self, place: tuple[int, int]) -> list[Stream]:
        if not self._places:
            return []
        at = bisect_left(self._places, place)
        beside = self._places[at - 1], self._places[at % len(self._places)]
        return [
            self._streams[item]
            for offset, item in beside
            if min((offset - place[0]) % _CLOCK_MS, (place[0] - offset) % _CLOCK_MS) <= CLOCK_TOLERANCE_MS
        ]
