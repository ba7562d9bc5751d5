"""Stored notifications as events, and the candidates of each primitive of each subscription.

Primitives are evaluated by a matcher of their own language; equal ones are shared. The state depends only on
the set of notifications and subscriptions held, not on their order of arrival.
"""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field

from knowledge_manager.mission_table import MissionTable
from plugins.composite.search.events import RANK_BITS, Event, SourceClock, Stream
from plugins.composite.search.stacks import Slot
from plugins.composite.search.watched import Watched
from plugins.language import Matcher, MatcherFactory, grades_of
from plugins.work import WorkMeter
from watchdog.vector import HEADER_BYTES

SlotName = tuple[tuple[int, ...], bool]
"""Key attributes, and whether all sources are one stream."""
_PLAIN: SlotName = (), False
Fresh = Set[int]
"""Numbers of the primitives that an event newly satisfies."""


@dataclass(slots=True, eq=False)
class Primitive:
    """A condition on single events, shared by all subscriptions that have it."""

    number: int
    body: bytes
    slots: dict[SlotName, Slot] = field(default_factory=dict)
    users: dict[int, Watched] = field(default_factory=dict)
    """Subscriptions that use it, by identity."""

    @property
    def is_plain(self) -> bool:
        """Return whether all its users have no key and use single streams."""
        return list(self.slots) == [_PLAIN]


class Ender:
    """A subscription of which a match may end with a primitive, and what must exist before it. Stored
    together, because most checks stop here.
    """

    __slots__ = ("first", "one", "others", "window")

    def __init__(self, one: Watched) -> None:
        self.one = one
        self.window = one.window
        self.first = one.needs[0] if one.needs else -1
        self.others = one.needs[1:]


class Held:
    """A stored notification."""

    __slots__ = ("degrees", "event", "event_class", "event_ms", "source", "vector")

    def __init__(self, source: int, vector: bytes, event_ms: int, degrees: dict[int, int]) -> None:
        self.source = source
        self.vector = vector
        self.event_ms = event_ms
        self.event_class = -1
        self.degrees = degrees
        """The primitives that it satisfies, with degrees; shared with the event while it has no other
        notification."""
        self.event: Event | None = None
        """None while it satisfies nothing."""

    @property
    def name(self) -> tuple[int, int, int]:
        """Return source, class and number of the reading."""
        return self.source, self.event_class, self.vector[0] << 8 | self.vector[1]


class Memory:
    """Notifications as events in the stacks of primitives."""

    def __init__(self, table: MissionTable, atoms: MatcherFactory, *, keeps_all: bool = False) -> None:
        """Create an empty memory. With `keeps_all` a notification that satisfies nothing is an event too, for
        sources, which see and count every reading.
        """
        self._width = table.feature_bytes
        self._keeps_all = keeps_all
        self._atoms = atoms
        self._matcher: Matcher = atoms(table)
        self._grades = grades_of(self._matcher)
        self._by_body: dict[bytes, Primitive] = {}
        self.primitives: dict[int, Primitive] = {}
        self._enders: dict[int, list[Ender]] = {}
        """By primitive: the subscriptions whose matches may end with it."""
        self._keyed: set[int] = set()
        """Primitives that some subscription uses with a key, or over all sources."""
        self._next = 0
        self.items: dict[int, Held] = {}
        self._named: dict[tuple[int, int, int], list[int]] = {}
        self._clocks: dict[int, SourceClock] = {}
        self._events: dict[tuple[Stream, int, int, int], tuple[Event, list[int]]] = {}
        self._any_users = 0
        self._longest_s = 1
        self.meter = WorkMeter()
        """Counts work beyond a look-up per notification. It has no limit, because an update must not stop
        half way."""
        self.moved: list[Event] = []
        """Events that the last notification moved in the order of all sources."""
        self.too_fast = 0
        """Number of events from sources whose numbers wrap within a window."""

    # ------------------------------------------------------------------ subscriptions

    def watch(self, one: Watched) -> None:
        """Keep candidates for a subscription from now on."""
        body = one.body
        self._longest_s = max(self._longest_s, body.window_s)
        lasts = one.last_leaves
        for primitive in body.leaf_primitives:
            shared = self._shared(body.part(primitive))
            shared.users[id(one)] = one
            name = body.keys[primitive], body.is_any_source
            if name not in shared.slots:
                shared.slots[name] = Slot(shared.number, *name)
                self._note(shared)
            slot = shared.slots[name]
            slot.users += 1
            one.slots.append(slot)
            one.primitives.append(shared.number)
        one.know_needs()
        for number in {one.primitives[leaf] for leaf in lasts}:
            self._enders.setdefault(number, []).append(Ender(one))
        if body.is_any_source:
            self._any_users += 1
            if self._any_users == 1:
                for event, _ in self._events.values():
                    self._place_among_all(event)

    def ignore(self, one: Watched) -> None:
        """Stop keeping candidates for it."""
        for number, slot in zip(one.primitives, one.slots, strict=True):
            slot.users -= 1
            shared = self.primitives.get(number)
            if shared is None:
                continue
            shared.users.pop(id(one), None)
            self._enders[number] = [row for row in self._enders.pop(number, ()) if row.one is not one]
            if not self._enders[number]:
                del self._enders[number]
            if not slot.users and slot in shared.slots.values():
                del shared.slots[slot.attributes, slot.is_any]
                self._note(shared)
                if slot.is_plain:
                    self._clear(number)
            if not shared.users:
                self._matcher.remove(_matcher_key(number))
                del self.primitives[number]
                self._keyed.discard(number)
                del self._by_body[shared.body]
                self._unjudge(number)
        one.slots, one.primitives = [], []
        if one.body.select == "all":
            for event in self.events:
                event.left_out = {name: left for name, left in event.left_out.items() if name[0] != one.key}
        self._any_users -= one.body.is_any_source

    def _shared(self, body: bytes) -> Primitive:
        meaning = bytes(2) + body[2:]
        found = self._by_body.get(meaning)
        if found is None:
            self._matcher.add(_matcher_key(self._next), meaning)
            found = self._by_body[meaning] = Primitive(self._next, meaning)
            self.primitives[self._next] = found
            self._next += 1
        return found

    def _note(self, shared: Primitive) -> None:
        """Update whether the events of a primitive go to more than the stack of their stream."""
        (self._keyed.discard if shared.is_plain else self._keyed.add)(shared.number)

    def _clear(self, number: int) -> None:
        """Remove the candidates without a key."""
        for clock in self._clocks.values():
            for stream in clock.streams:
                stream.stacks.pop(number, None)

    def _unjudge(self, number: int) -> None:
        for held in self.items.values():
            if held.degrees.pop(number, None) is not None and held.event is not None:
                held.event.degrees.pop(number, None)

    # ------------------------------------------------------------------ notifications

    def take(self, item: int, source: int, vector: bytes, event_ms: int) -> list[tuple[Event, Fresh]]:
        """Store a new notification; return its event, and the primitives that it newly satisfies. If it joins
        two runs of its source's clock, all events of that source are returned again. If it satisfies nothing,
        and not every reading is kept, it is stored for later subscriptions without an event.

        Invalid bytes raise `VectorError` and change nothing: the matcher reads them first.
        """
        self.moved = []
        degrees = self._grades(vector, event_ms, event_ms)
        held = self.items[item] = Held(source, vector, event_ms, degrees)
        return self._placed(item, held) if degrees or self._keeps_all else []

    def judge_anew(self, item: int, one: Watched, judge: Matcher) -> list[tuple[Event, Fresh]]:
        """Evaluate the primitives of one subscription, in a matcher of their own, for a stored notification;
        return events as `take` does, with the satisfied primitives.
        """
        held = self.items[item]
        found = {
            one.primitives[match.key[1]]: match.degree_u8
            for match in judge.match(held.vector, held.event_ms, held.event_ms)
        }
        if not found:
            return []
        self.moved = []
        held.degrees = {**held.degrees, **found}
        if held.event is None:
            return self._placed(item, held)
        self._read_values(held.event, held.vector)
        self._push(held.event, found)
        return [(held.event, set(found))]

    def _placed(self, item: int, held: Held) -> list[tuple[Event, Fresh]]:
        """Assign a notification to its stream, and its event there."""
        held.event_class = _last_bits(held.vector, self._width, self._width).bit_length() - 1
        self._named.setdefault(held.name, []).append(item)
        clock = self._clocks.get(held.source)
        if clock is None:
            clock = self._clocks[held.source] = SourceClock(held.source)
        stream = clock.add(item, _stamp(held.vector), held.event_ms)
        return list(self._settle(clock)) if stream is None else [self._enter(item, held, stream)]

    def possible_ends(self, event: Event, fresh: Fresh) -> list[tuple[int, Watched]]:
        """Return the subscriptions of which a match may end with the newest event of a stream, with the
        primitive: those for which the stream lacks nothing. Only these have to be searched.
        """
        enders, stacks, now = self._enders, event.stream.stacks, event.seconds << RANK_BITS
        found: list[tuple[int, Watched]] = []
        for number in fresh:
            ending = enders.get(number)
            if ending is None:
                continue
            for row in ending:
                floor = now - row.window
                if row.first >= 0:
                    stack = stacks.get(row.first)
                    if stack is None or stack[-1].key < floor:
                        continue
                for needed in row.others:
                    stack = stacks.get(needed)
                    if stack is None or stack[-1].key < floor:
                        break
                else:
                    found.append((number, row.one))
        return found

    def forget(self, item: int) -> None:
        """Remove a notification; an unknown one is ignored."""
        held = self.items.pop(item, None)
        if held is None or held.event is None:
            return
        clock = self._clocks[held.source]
        alike = self._named[held.name]
        alike.remove(item)
        if not alike:
            del self._named[held.name]
        self._leave(item, held)
        if clock.remove(item):
            for _ in self._settle(clock):
                pass
        if not len(clock):
            del self._clocks[held.source]

    def items_named(self, source: int, event: int, number: int) -> list[int]:
        """Return the notifications of a source about readings of this class with this number."""
        return self._named.get((source, event, number), [])

    @property
    def has_any(self) -> bool:
        """Return whether some subscription combines events of all sources."""
        return self._any_users > 0

    @property
    def further_runs(self) -> int:
        """Return the number of clock runs beyond one per source: no match crosses them."""
        return sum(clock.runs - 1 for clock in self._clocks.values())

    @property
    def left_out(self) -> int:
        """Return the number of matches ending with stored events that `all` does not report, independent of
        the order of arrival.
        """
        return sum(sum(event.left_out.values()) for event in self.events)

    @property
    def events(self) -> Iterable[Event]:
        return [event for event, _ in self._events.values()]

    def _settle(self, clock: SourceClock) -> Iterator[tuple[Event, Fresh]]:
        items = clock.items
        self.meter.spend(2 * len(items))
        for item in items:
            self._leave(item, self.items[item])
        clock.settle()
        for item in items:
            yield self._enter(item, self.items[item], clock.stream(item))

    def _enter(self, item: int, held: Held, stream: Stream) -> tuple[Event, Fresh]:
        vector = held.vector
        number, stamp_s = vector[0] << 8 | vector[1], _stamp(vector)
        seconds = stream.seconds(stamp_s, held.event_ms)
        name = stream, held.event_class, number, seconds
        known = self._events.get(name)
        if known is None:
            key = stream.key(held.event_class, number, seconds)
            event = Event(stream, held.event_class, number, stamp_s, seconds, key)
            self._events[name] = event, [item]
            stream.members[event] = None
            self.too_fast += stream.is_too_fast(event.event, number, seconds, self._longest_s)
        else:
            event = known[0]
            known[1].append(item)
        held.event = event
        event.event_ms = min(event.event_ms, held.event_ms)
        if self._any_users:
            self._place_among_all(event)
        fresh: Fresh = held.degrees.keys()
        if event.degrees:
            fresh = fresh - event.degrees.keys()
        if held.degrees:
            self._read_values(event, vector)
            self._push(event, held.degrees)
        return event, fresh

    def _read_values(self, event: Event, vector: bytes) -> None:
        """Add the values of a notification, which its matcher has found valid."""
        mask, values = _last_bits(vector, self._width, 0), event.values
        at, index = HEADER_BYTES, 0
        while mask:
            if mask & 1:
                values[index] = vector[at]
                at += 1
            mask >>= 1
            index += 1

    def _push(self, event: Event, degrees: dict[int, int]) -> None:
        """Add an event to the stacks of the primitives that it satisfies. The newest one of its stream, the
        common case, goes on top of each.
        """
        stream, order = event.stream, event.key
        primitives, keyed = self.primitives, self._keyed
        if order > stream.top and not (keyed and keyed & degrees.keys()):
            stream.top = order
            stacks = stream.stacks
            for number in degrees:
                stack = stacks.get(number)
                if stack is None:
                    stacks[number] = [event]
                else:
                    stack.append(event)
        else:
            for number in degrees:
                for slot in primitives[number].slots.values():
                    slot.push(event)
        known = event.degrees
        if known:
            event.degrees = {
                number: max(known.get(number, 0), degrees.get(number, 0)) for number in known | degrees
            }
        else:
            event.degrees = degrees

    def _leave(self, item: int, held: Held) -> None:
        event = held.event
        if event is None:
            return
        held.event = None
        name = event.stream, event.event, event.number, event.seconds
        items = self._events[name][1]
        items.remove(item)
        rest = [self.items[other] for other in items]
        gone = [number for number in held.degrees if not any(number in other.degrees for other in rest)]
        for number in gone:
            primitive = self.primitives.get(number)
            if primitive is not None:
                for slot in primitive.slots.values():
                    slot.drop(event)
        if rest:
            event.degrees = {number: degree for number, degree in event.degrees.items() if number not in gone}
        else:
            del self._events[name]
            del event.stream.members[event]
            event.stream.left(event.event, event.seconds)
            for names, name_there in event.reported:
                names.discard(name_there)

    def _place_among_all(self, event: Event) -> None:
        """Place an event in the order of all sources; if its stream turns out to be less delayed, its other
        events are placed again.
        """
        stream = event.stream
        if stream.is_moved():
            self._replace(stream)
        if not event.any_key:
            event.place_among_all()

    def _replace(self, stream: Stream) -> None:
        self.meter.spend(len(stream.members))
        for event in stream.members:
            if event.any_key:
                slots = [
                    slot
                    for number in event.degrees
                    if number in self.primitives
                    for slot in self.primitives[number].slots.values()
                    if slot.is_any
                ]
                for slot in slots:
                    slot.drop(event)
                event.place_among_all()
                for slot in slots:
                    slot.push(event)
                self.moved.append(event)


def _matcher_key(number: int) -> tuple[int, int]:
    return number >> 8, number & 255


def _last_bits(vector: bytes, width: int, before: int) -> int:
    """Return the number in `width` bytes before the last `before` bytes."""
    found = 0
    for at in range(len(vector) - before - width, len(vector) - before):
        found = found << 8 | vector[at]
    return found


def _stamp(vector: bytes) -> int:
    return vector[3] << 8 | vector[4]
