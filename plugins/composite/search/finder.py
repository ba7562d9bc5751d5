"""Finds matches in stored events: the events at which they may end, and the best or all matches of an end."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from itertools import product

from plugins.composite.bounds import MOST_AN_END, MOST_COUNTED
from plugins.composite.composites import MATCH, Composite, Opening, WitnessEntry
from plugins.composite.search.events import ANY_BITS, RANK_BITS, Event, Stream
from plugins.composite.search.search import (
    FULLY,
    Candidates,
    Plan,
    around,
    best_degree,
    caps_at,
    ends_with,
    every,
    floors_at,
    pin,
    total_order,
    with_event,
)
from plugins.composite.search.stacks import AMONG_ALL, EMPTY, IN_STREAM, Slot, Stack
from plugins.composite.search.watched import Watched
from plugins.work import WorkMeter


class Found:
    """A match: its events by leaf, its last event, and its degree."""

    __slots__ = ("degree", "end", "events")

    def __init__(self, end: Event, degree: int, events: tuple[tuple[int, Event], ...]) -> None:
        self.end = end
        self.degree = degree
        self.events = events


@dataclass(slots=True)
class Finder:
    """Searches for matches and counts the searches."""

    meter: WorkMeter = field(default_factory=WorkMeter)
    searches: int = 0

    def ends(self, one: Watched, event: Event, key: bytes, fresh: Set[int]) -> list[Event]:
        """Return the last events of the matches that contain this event through one of these primitives,
        earliest first. Ends that were reported are excluded, unless every match is reported.
        """

        def is_known(end: Event) -> bool:
            return one.name_of(end, key) in one.reported

        known = _is_new if one.body.select == "all" else is_known
        found: dict[int, Event] = {}
        for plan in one.endings:
            for given in self._around(one, plan, event, key, fresh):
                self.searches += 1
                for end in ends_with(given, one.least, known):
                    found[id(end)] = end
        order = AMONG_ALL if one.body.is_any_source else total_order
        return sorted(found.values(), key=order)

    def _around(
        self, one: Watched, plan: Plan, event: Event, key: bytes, fresh: Set[int]
    ) -> Iterator[Candidates]:
        """Yield the candidates of matches that contain an event: one per leaf that it satisfies through one
        of these primitives, and per choice of sources.
        """
        is_hopeless = False
        for local, leaf in enumerate(plan.leaves):
            if one.primitives[leaf] not in fresh:
                continue
            for stacks in self._stacks(one, plan, key, event.stream, local):
                caps, floors = around(plan, stacks, event, one.body.window_s)
                given = self._given(one, plan, stacks, caps, floors)
                at = given.place_of(local, event)
                if at < 0:
                    continue
                pin(given, local, at)
                yield given
                is_hopeless = given.is_hopeless and not one.body.is_any_source
            if is_hopeless:
                return

    def matches(
        self, one: Watched, end: Event, key: bytes, after: Event | None = None, new: Event | None = None
    ) -> Iterator[Found]:
        """Yield the best match that ends with an event, or all of them, depending on `select`; only those
        entirely after `after`, and of all only those that contain `new`.
        """
        if one.body.select == "all":
            yield from self._every(one, end, key, after, new)
        elif (best := self.best(one, end, key, after)) is not None:
            yield best

    def best(self, one: Watched, end: Event, key: bytes, after: Event | None = None) -> Found | None:
        """Return the best match that ends with an event, entirely after `after` if given."""
        best: Found | None = None
        for plan in one.plans:
            least = one.least if best is None else best.degree + 1
            if _most(one, plan, end) < least:
                continue
            if plan.chain and after is None and best is None and not one.body.is_any_source:
                self.searches += 1
                ending = chain_ending(one, plan, end, key, self.meter)
                if ending is None or ending.degree == FULLY:
                    best = ending
                    continue
            for given in self._candidates(one, plan, end, key, after):
                self.searches += 1
                found = best_degree(given, end, least)
                if found is not None:
                    best = better(best, _found(given, end, *found))
        return best

    def _every(
        self, one: Watched, end: Event, key: bytes, after: Event | None, new: Event | None
    ) -> Iterator[Found]:
        seen: set[tuple[tuple[int, int], ...]] = set()
        for found in self._assignments(one, end, key, after, new):
            name = tuple([(leaf, id(event)) for leaf, event in found.events])
            if name in seen:
                continue
            seen.add(name)
            if len(seen) <= MOST_AN_END:
                yield found
            elif len(seen) == MOST_COUNTED:
                break
        before = 0 if new is None or new is end else end.left_out.get((one.key, key), 0)
        end.left_out[one.key, key] = before + max(len(seen) - MOST_AN_END, 0)

    def _assignments(
        self, one: Watched, end: Event, key: bytes, after: Event | None, new: Event | None
    ) -> Iterator[Found]:
        for plan in one.plans:
            for given in self._all_candidates(one, plan, end, key, after, new):
                self.searches += 1
                for places in every(given, end, one.least):
                    yield _found(given, end, 0, places)

    def _all_candidates(
        self, one: Watched, plan: Plan, end: Event, key: bytes, after: Event | None, new: Event | None
    ) -> Iterator[Candidates]:
        for given in self._candidates(one, plan, end, key, after):
            if new is None or new is end:
                yield given
            else:
                yield from with_event(given, new)

    def _candidates(
        self, one: Watched, plan: Plan, end: Event, key: bytes, after: Event | None
    ) -> Iterator[Candidates]:
        """Yield the candidates of matches that end with an event: once, or once per choice of sources."""
        newest = end.key
        if one.body.is_any_source:
            newest = end.any_key
            choices: Iterable[list[Stack]] = self._stacks(one, plan, key, end.stream, plan.lasts[0])
            if len(plan.lasts) > 1:
                choices = self._stacks(one, plan, key, end.stream, -1)
        else:
            found = _stacks_in_window(one, plan, end, key)
            choices = () if found is None else (found,)
        floors = floors_at(plan, newest, one.body.window_s, after)
        for stacks in choices:
            yield self._given(one, plan, stacks, caps_at(plan, stacks, end), list(floors))

    def _given(
        self, one: Watched, plan: Plan, stacks: list[Stack], caps: list[int], floors: list[int]
    ) -> Candidates:
        numbers = [one.primitives[leaf] for leaf in plan.leaves]
        return Candidates(plan, stacks, numbers, caps, floors, one.since_ms, one.until_ms, self.meter)

    def _stacks(
        self, one: Watched, plan: Plan, key: bytes, stream: Stream, local: int
    ) -> Iterator[list[Stack]]:
        """Yield the stacks of a plan's leaves: once, or once per choice of a source for each group of leaves
        with one source. The leaf `local` uses this stream.
        """
        slots = [one.slots[leaf] for leaf in plan.leaves]
        if not one.body.is_any_source:
            found = [slot.at(stream, key) or EMPTY for slot in slots]
            if all(found):
                yield found
            return
        choices = [
            [stream]
            if local in group
            else [other for other in slots[group[0]].streams(key) if _has_all(slots, group, other, key)]
            for group in plan.groups
        ]
        streams: list[Stream | None] = [None] * len(slots)
        for chosen in product(*choices):
            self.meter.spend(1)
            for group, source in zip(plan.groups, chosen, strict=True):
                for leaf in group:
                    streams[leaf] = source
            found = [slot.at(other, key) or EMPTY for slot, other in zip(slots, streams, strict=True)]
            if all(found):
                yield found


def _is_new(end: Event) -> bool:
    return False


def _has_all(slots: list[Slot], group: tuple[int, ...], stream: Stream, key: bytes) -> bool:
    return all(slots[leaf].at(stream, key) for leaf in group)


def _most(one: Watched, plan: Plan, end: Event) -> int:
    """Return the maximum degree of a match of a plan: that of its end."""
    degrees, primitives = end.degrees, one.primitives
    return max(degrees.get(primitives[plan.leaves[last]], 0) for last in plan.lasts)


def chain_ending(one: Watched, plan: Plan, end: Event, key: bytes, meter: WorkMeter) -> Found | None:
    """Return the latest match of a chain in one stream that ends with an event, in one pass from its end:
    most searches are of this kind, and most fail at the second leaf.

    If its degree is full, or nothing matches, no further search is needed.
    """
    slots, leaves, stream = one.slots, plan.leaves, end.stream
    least, since_ms, until_ms = one.least, one.since_ms, one.until_ms
    floor = (end.seconds << RANK_BITS) - one.window
    limit, degree = end.key + 1, FULLY
    meter.spend(len(plan.chain))
    found: list[tuple[int, Event]] = []
    for local in plan.chain:
        leaf = leaves[local]
        slot = slots[leaf]
        stack = stream.stacks.get(slot.number) if slot.is_plain else slot.stacks.get((stream, key))
        if stack is None:
            return None
        event = stack[-1]
        at = len(stack) - 1
        if event.key >= limit:
            at = bisect_left(stack, limit, key=IN_STREAM) - 1
            if at < 0:
                return None
            event = stack[at]
        worth = event.degrees[slot.number]
        while worth < least or not since_ms <= event.event_ms < until_ms:
            at -= 1
            if at < 0 or stack[at].key < floor:
                return None
            event = stack[at]
            worth = event.degrees[slot.number]
            meter.spend(1)
        if event.key < floor or not (found or event is end):
            return None
        found.append((leaf, event))
        limit = event.key
        if worth < degree:
            degree = worth
    found.reverse()  # leaves are numbered in the order of the text, so the first one has the lowest number
    return Found(end, degree, tuple(found))


def _stacks_in_window(one: Watched, plan: Plan, end: Event, key: bytes) -> list[Stack] | None:
    """Return the stacks of a plan's leaves in a stream; None if some leaf has no candidate within the window,
    as in most searches.
    """
    floor = (end.seconds - one.body.window_s) << RANK_BITS
    slots = one.slots
    found = []
    for leaf in plan.leaves:
        stack = slots[leaf].at(end.stream, key)
        if stack is None or stack[-1].key < floor:
            return None
        found.append(stack)
    return found


def _found(given: Candidates, end: Event, degree: int, places: list[int]) -> Found:
    leaves = given.plan.leaves
    events = [(leaves[local], given.stacks[local][at]) for local, at in enumerate(places)]
    if not degree:
        degree = min([given.degree(local, at) for local, at in enumerate(places)])
    return Found(end, degree, tuple(sorted(events, key=_leaf)))


def _leaf(pair: tuple[int, Event]) -> int:
    return pair[0]


def better(one: Found | None, other: Found) -> Found:
    """Return the match with the greater degree; of equal ones the first, unless the other has the same leaves
    and is later.
    """
    if one is None or other.degree > one.degree:
        return other
    same = [leaf for leaf, _ in one.events] == [leaf for leaf, _ in other.events]
    if other.degree == one.degree and same and _places(other) > _places(one):
        return other
    return one


def _places(found: Found) -> list[int]:
    return [event.any_key or event.key for _, event in found.events]


def composite_of(
    one: Watched,
    found: Found,
    key: bytes,
    kind: int = MATCH,
    opening: Opening | None = None,
) -> Composite:
    """Return the composite of a match."""
    end, body = found.end, one.body
    source, is_any = end.stream.source, body.is_any_source
    last = end.any_key >> ANY_BITS if is_any else end.seconds
    witness = []
    for leaf, event in found.events:
        attributes = one.about[leaf].attributes
        before = last - (event.any_key >> ANY_BITS if is_any else event.seconds)
        values = bytes([event.values[index] for index in attributes])
        other = None if event.stream.source == source else event.stream.source
        witness.append(WitnessEntry(leaf, event.number, before, attributes, values, other))
    return Composite(
        end.number,
        body.keep_q,
        end.stamp_s,
        found.degree // 17,
        kind,
        one.key[0],
        one.key[1],
        one.revision,
        source,
        end.event,
        witness,
        opening,
        (body.quiet_q, key) if body.quiet_q else None,
        body.select == "all",
    )
