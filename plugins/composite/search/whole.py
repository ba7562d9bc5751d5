"""Matches in a complete stream: the expected results of a subscription, independent of the order
of arrival.
"""

from collections.abc import Iterable

from knowledge_manager.mission_table import MissionTable
from plugins.composite.search.events import Event
from plugins.composite.search.finder import Finder, Found
from plugins.composite.search.memory import Memory
from plugins.composite.search.search import total_order
from plugins.composite.search.watched import Watched
from plugins.language import MatcherFactory


class WholeStream:
    """Readings of any number of sources, in which subscriptions are searched."""

    def __init__(self, table: MissionTable, atoms: MatcherFactory) -> None:
        self.memory = Memory(table, atoms, keeps_all=True)
        self.finder = Finder()
        self._next = 0

    def watch(self, one: Watched) -> None:
        """Add a subscription; before any reading."""
        self.memory.watch(one)

    def take(self, source: int, vector: bytes, event_ms: int) -> Event:
        """Add a reading as a notification. Invalid bytes raise `VectorError`."""
        taken = self.memory.take(self._next, source, vector, event_ms)
        self._next += 1
        return taken[-1][0]

    def matches(self, one: Watched) -> list[tuple[Found, bytes]]:
        """Return all results of a subscription, with their keys, in the order of the ends."""
        ends = sorted(_ends(one, self.memory.events), key=_order)
        if one.body.select == "first":
            return self._consumed(one, ends)
        reported: set[tuple[object, ...]] = set()
        found = []
        for end, key in ends:
            bucket = (end.stream, key, end.stamp_s // one.quiet_s) if one.quiet_s else None
            if bucket in reported:
                continue
            matches = [(match, key) for match in self.finder.matches(one, end, key)]
            if matches and bucket is not None:
                reported.add(bucket)
            found += matches
        return found

    def _consumed(self, one: Watched, ends: list[tuple[Event, bytes]]) -> list[tuple[Found, bytes]]:
        """Return non-overlapping matches."""
        previous: dict[tuple[object, bytes], Event] = {}
        found = []
        for end, key in ends:
            place = end.stream, key
            for match in self.finder.matches(one, end, key, previous.get(place)):
                previous[place] = end
                found.append((match, key))
        return found


def _ends(one: Watched, events: Iterable[Event]) -> Iterable[tuple[Event, bytes]]:
    lasts = one.last_leaves
    for event in events:
        slots = {one.slots[leaf] for leaf in lasts if one.primitives[leaf] in event.degrees}
        for key in {slot.key_of(event) for slot in slots}:
            yield event, key


def _order(end: tuple[Event, bytes]) -> tuple[int, int, int, int, int, bytes]:
    event, key = end
    second, event_class, place = total_order(event)
    return event.stream.source, event.stream.reference_ms, second, event_class, place, key
