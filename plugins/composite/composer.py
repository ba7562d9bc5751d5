"""Composes composite notifications from held notifications, on a DENS node.

The result depends only on the set of notifications and subscriptions that are held: for a late event, the
matches that contain it are searched, and a result that was reported is not made again. An event that cannot
end a match is only stored.

`work` counts units of search (`plugins.work`); `work_limit` bounds those of one call of `feed`, which then
raises `WorkExceeded`. The notification is stored nevertheless. The results of that call are not marked as
reported, so that a later search can find them.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from knowledge_manager.mission_table import MissionTable
from plugins.composite.bounds import MOST_AN_END, MOST_AN_EVENT
from plugins.composite.composites import WitnessEntry, decode_composite, encode_composite
from plugins.composite.search.events import Event
from plugins.composite.search.finder import Finder, Found, composite_of
from plugins.composite.search.memory import Fresh, Memory
from plugins.composite.search.watched import Name, Watched, watched
from plugins.composite.vectors import decode_body
from plugins.language import (
    BOARD_LANGUAGE_ID,
    CompositeNotification,
    Matcher,
    MatcherFactory,
    SubscriptionKey,
)
from plugins.work import WorkExceeded

_ORIGIN_BITS: Final = 32
"""An item id is its origin, shifted by this, and its number there."""


class CompositeComposer:
    """Stores notifications of the boards' language and finds matches in them."""

    listens_to: Final = frozenset({BOARD_LANGUAGE_ID})

    def __init__(self, table: MissionTable, atoms: MatcherFactory) -> None:
        self._table = table
        self._width = table.feature_bytes
        self._atoms = atoms
        self._memory = Memory(table, atoms)
        self._watched: dict[SubscriptionKey, Watched] = {}
        self._alone: tuple[Watched, Matcher] | None = None
        self._noted: list[tuple[set[Name], Event, Name]] = []
        """Results that the current call has marked as reported."""
        self.finder = Finder()
        self.work_limit: int | None = None
        """Maximum units of work per call of `feed`; None: no limit."""

    @property
    def work(self) -> int:
        """Return the units of work since creation."""
        return self.finder.meter.spent + self._memory.meter.spent

    @property
    def further_runs(self) -> int:
        """Return the number of clock runs beyond one per source. Matches do not cross runs."""
        return self._memory.further_runs

    @property
    def too_fast(self) -> int:
        """Return the number of events from sources whose numbers wrap within their windows."""
        return self._memory.too_fast

    @property
    def left_out(self) -> int:
        """Return the number of matches ending with stored events that are not reported because `all` is
        limited per end.
        """
        return self._memory.left_out

    def add(self, key: SubscriptionKey, body: bytes, revision: int, since_ms: int, until_ms: int) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        known = self._watched.get(key)
        if known is not None and (known.revision, known.given) == (revision, body):
            known.since_ms, known.until_ms = since_ms, until_ms
            return
        width = self._width
        new = watched(key, revision, body, decode_body(body, width, self._table), width)
        new.since_ms, new.until_ms = since_ms, until_ms
        self.remove(key)
        self._watched[key] = new
        if new.body.select != "first":  # needs the complete stream, which only its source sees
            self._memory.watch(new)

    def remove(self, key: SubscriptionKey) -> None:
        known = self._watched.pop(key, None)
        if known is not None:
            self._memory.ignore(known)
            if self._alone is not None and self._alone[0] is known:
                self._alone = None

    def feed(
        self,
        item_id: int,
        language_id: int,
        vector: bytes,
        event_ms: int,
        now_ms: int,
        only: SubscriptionKey | None = None,
    ) -> list[CompositeNotification]:
        """Store a notification and return the composites that it completes. Invalid bytes raise
        `VectorError`.
        """
        if language_id not in self.listens_to:
            return []
        memory, meter, limit = self._memory, self.finder.meter, self.work_limit
        before = memory.meter.spent
        if item_id not in memory.items:
            taken = memory.take(item_id, item_id >> _ORIGIN_BITS, vector, event_ms)
        elif only is None:
            return []
        else:
            taken = self._taken_anew(item_id, only)
        made: list[CompositeNotification] = []
        self._noted.clear()
        if limit is not None:
            meter.limit = meter.spent + limit - (memory.meter.spent - before)
        try:
            for event, fresh in taken:
                self._compose(event, fresh, only, made)
            for event in memory.moved:
                for one, numbers in self._touched(event.degrees.keys(), only):
                    if one.body.is_any_source:
                        self._make_with(one, event, numbers, made)
        except WorkExceeded:
            for names, end, name in self._noted:
                names.discard(name)
                end.reported.remove((names, name))
            raise
        finally:
            meter.limit = None
        return made

    def forget(self, item_id: int) -> None:
        self._memory.forget(item_id)

    def wanted_by(self, item_id: int) -> Mapping[int, int]:
        """Return the subscribers for which a notification may become a part, with its degree."""
        held = self._memory.items.get(item_id)
        found: dict[int, int] = {}
        for number, degree in () if held is None else held.degrees.items():
            primitive = self._memory.primitives.get(number)
            for one in () if primitive is None else primitive.users.values():
                if degree >= one.least:
                    found[one.key[0]] = max(degree, found.get(one.key[0], 0))
        return found

    def parts_of(self, made_vector: bytes) -> tuple[int, ...] | None:
        """Return the notifications that a composite was made of, or None unless all of them are stored."""
        made = decode_composite(made_vector)
        one = self._watched.get((made.subscriber, made.id))
        if one is None or one.revision != made.revision or len(one.primitives) == 0:
            return None
        found: list[int] = []
        for entry in made.witness:
            if entry.leaf >= len(one.primitives):
                return None
            source = made.source if entry.source is None else entry.source
            item = self._item(one, entry, source, made.stamp_s)
            if item is None:
                return None
            found.append(item)
        return tuple(dict.fromkeys(found))

    # ------------------------------------------------------------------ search

    def _item(self, one: Watched, entry: WitnessEntry, source: int, last_stamp_s: int) -> int | None:
        """Return a held notification of a witness's event that satisfies a leaf, or None.

        Timestamps of the last event's source are relative to it; events of other sources are identified by
        number only.
        """
        number = one.primitives[entry.leaf]
        stamp_s = (last_stamp_s - entry.seconds_before) % 65_536
        event_class = one.about[entry.leaf].event
        for item in self._memory.items_named(source, event_class, entry.number):
            held = self._memory.items[item]
            stamp = held.vector[3] << 8 | held.vector[4]
            if number in held.degrees and (entry.source is not None or stamp == stamp_s):
                return item
        return None

    def _taken_anew(self, item_id: int, only: SubscriptionKey) -> list[tuple[Event, Fresh]]:
        """Evaluate the primitives of one subscription for a known notification."""
        one = self._watched.get(only)
        if one is None or not one.primitives:
            return []
        if self._alone is None or self._alone[0] is not one:
            judge = self._atoms(self._table)
            for leaf, primitive in enumerate(one.body.leaf_primitives):
                judge.add((0, leaf), one.body.part(primitive))
            self._alone = one, judge
        return self._memory.judge_anew(item_id, one, self._alone[1])

    def _compose(
        self, event: Event, fresh: Fresh, only: SubscriptionKey | None, made: list[CompositeNotification]
    ) -> None:
        """Add the composites that an event completes through newly satisfied primitives."""
        stream = event.stream
        is_late = stream.latest_s >= event.seconds
        stream.latest_s = max(stream.latest_s, event.seconds)
        if not is_late:
            self._make_in_order(event, fresh, only, made)
            if not self._memory.has_any:
                return
        for one, numbers in self._touched(fresh, only):
            if is_late or one.body.is_any_source:
                self._make_with(one, event, numbers, made)

    def _make_in_order(
        self, event: Event, fresh: Fresh, only: SubscriptionKey | None, made: list[CompositeNotification]
    ) -> None:
        """Add what the newest event of a stream completes: it can only end a match."""
        done: set[tuple[int, bytes]] = set()
        for number, one in self._memory.possible_ends(event, fresh):
            if (only is not None and one.key != only) or one.body.is_any_source:
                continue
            key = b""
            if one.body.keys[0]:
                key = one.slots[one.primitives.index(number)].key_of(event)
            if len(one.last_leaves) > 1:
                if (id(one), key) in done:
                    continue
                done.add((id(one), key))
            self._tell(one, event, key, made)

    def _touched(self, fresh: Fresh, only: SubscriptionKey | None) -> Iterable[tuple[Watched, set[int]]]:
        """Return the subscriptions of these primitives, each with its own ones."""
        found: dict[int, tuple[Watched, set[int]]] = {}
        for number in fresh:
            primitive = self._memory.primitives.get(number)
            for name, one in () if primitive is None else primitive.users.items():
                if only is None or one.key == only:
                    found.setdefault(name, (one, set()))[1].add(number)
        return found.values()

    def _make_with(self, one: Watched, event: Event, fresh: Fresh, made: list[CompositeNotification]) -> None:
        """Add the matches that contain an event through these primitives, wherever they end."""
        count = len(made)
        keys = {
            one.slots[leaf].key_of(event) for leaf, number in enumerate(one.primitives) if number in fresh
        }
        for key in sorted(keys):
            if one.is_newest(event, key):
                self._tell(one, event, key, made)
                continue
            for end in self.finder.ends(one, event, key, fresh):
                if len(made) - count >= MOST_AN_EVENT:
                    end.left_out[one.key, key] = end.left_out.get((one.key, key), 0) + 1
                else:
                    self._tell(one, end, key, made, event)

    def _tell(
        self,
        one: Watched,
        end: Event,
        key: bytes,
        made: list[CompositeNotification],
        new: Event | None = None,
    ) -> None:
        """Add the results of an end that were not reported, with `new` only those that contain it."""
        if one.body.select == "all":
            self._tell_all(one, end, key, made, new)
            return
        name = one.name_of(end, key)
        if name not in one.reported:
            found = self.finder.best(one, end, key)
            if found is not None:
                made.append(self._note(one, found, key, name))

    def _tell_all(
        self, one: Watched, end: Event, key: bytes, made: list[CompositeNotification], new: Event | None
    ) -> None:
        reported_here = sum(names is one.reported for names, _ in end.reported)
        for found in self.finder.matches(one, end, key, new=new):
            name = tuple((leaf, *event.name) for leaf, event in found.events)
            if name in one.reported:
                continue
            if reported_here == MOST_AN_END:
                end.left_out[one.key, key] = end.left_out.get((one.key, key), 0) + 1
                continue
            reported_here += 1
            made.append(self._note(one, found, key, name))

    def _note(self, one: Watched, found: Found, key: bytes, name: Name) -> CompositeNotification:
        """Return the composite of a match, and mark it as reported."""
        end = found.end
        one.reported.add(name)
        end.reported.append((one.reported, name))
        self._noted.append((one.reported, end, name))
        vector = encode_composite(composite_of(one, found, key), self._width)
        return CompositeNotification(vector, end.event_ms, one.body.keep_q)
