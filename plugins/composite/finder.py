"""Finds matches in what is remembered: at which events they may end, and the best or all of an end."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from plugins.composite.bounds import MOST_AN_END, MOST_COUNTED
from plugins.composite.composites import MATCH, Composite, Opening, Told
from plugins.composite.events import ANY_BITS, RANK_BITS, Event, Stream
from plugins.composite.search import (
    FULLY,
    Candidates,
    Plan,
    best_degree,
    caps_at,
    every,
    floors_at,
    with_event,
)
from plugins.composite.stacks import EMPTY, IN_STREAM, Stack
from plugins.composite.watched import Watched


class Found:
    """A match: its events by leaf, the last of them, and its degree."""

    __slots__ = ("degree", "end", "events")

    def __init__(self, end: Event, degree: int, events: tuple[tuple[int, Event], ...]) -> None:
        self.end = end
        self.degree = degree
        self.events = events


@dataclass(slots=True)
class Finder:
    """Searches for matches, and counts how often; what is not told one by one is noted at its end."""

    searches: int = 0

    def ends(self, one: Watched, event: Event, key: bytes) -> list[Event]:
        """Return the events at which a match may end that has this event in it."""
        found: dict[int, Event] = {}
        is_any = one.body.is_any_source
        shift = ANY_BITS if is_any else RANK_BITS
        second = (event.any_key if is_any else event.key) >> shift
        for leaf in one.last_leaves:
            stack = one.slots[leaf].at(None if is_any else event.stream, key)
            if stack is None:
                continue
            order = one.slots[leaf].order
            begin = bisect_left(stack, second << shift, key=order)
            limit = bisect_left(stack, (second + one.body.window_s + 1) << shift, begin, key=order)
            found.update((id(other), other) for other in stack[begin:limit])
        return list(found.values())

    def matches(
        self, one: Watched, end: Event, key: bytes, after: Event | None = None, new: Event | None = None
    ) -> Iterator[Found]:
        """Yield the best match that ends with an event, or all of them, as the subscription selects; wholly
        after another event if one is given. Of all, only those that a new event is in, if one is given: the
        others were there before it.
        """
        if one.body.select == "all":
            yield from self._every(one, end, key, after, new)
        elif (best := self.best(one, end, key, after)) is not None:
            yield best

    def best(self, one: Watched, end: Event, key: bytes, after: Event | None = None) -> Found | None:
        """Return the best match that ends with an event, wholly after another event if one is given."""
        best: Found | None = None
        for plan in one.plans:
            least = one.least if best is None else best.degree + 1
            if _most(one, plan, end) < least:
                continue
            if plan.chain and after is None and best is None and not one.body.is_any_source:
                self.searches += 1
                ending = chain_ending(one, plan, end, key)
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
        """Yield where to look: once, or where sources mix once for each choice of sources for the leaves that
        must have the same.
        """
        if not one.body.is_any_source:
            stacks = _stacks_in_window(one, plan, end, key)
            if stacks is not None:
                yield candidates_at(one, plan, stacks, end, after)
            return
        slots = [one.slots[leaf] for leaf in plan.leaves]
        streams: list[Stream | None] = [None] * len(slots)
        choices = [
            [
                stream
                for stream, its_key in slots[group[0]].stacks
                if stream is not None
                and its_key == key
                and all(slots[leaf].at(stream, key) for leaf in group)
            ]
            for group in plan.groups
        ]
        for chosen in product(*choices):
            for group, stream in zip(plan.groups, chosen, strict=True):
                for leaf in group:
                    streams[leaf] = stream
            found = [slot.at(stream, key) or EMPTY for slot, stream in zip(slots, streams, strict=True)]
            if all(found):
                yield candidates_at(one, plan, found, end, after)


def _most(one: Watched, plan: Plan, end: Event) -> int:
    """Return what a match of a plan can be worth at most: what its end is."""
    degrees, primitives = end.degrees, one.primitives
    return max(degrees.get(primitives[plan.leaves[last]], 0) for last in plan.lasts)


def chain_ending(one: Watched, plan: Plan, end: Event, key: bytes) -> Found | None:
    """Return the latest way in which a chain of one stream ends with an event, in one pass from its end: most
    searches are of this kind, and most of them are over at the second leaf.

    Where its degree is full, or there is none, nothing else has to be looked at.
    """
    slots, leaves, stream = one.slots, plan.leaves, end.stream
    least, since_ms, until_ms = one.least, one.since_ms, one.until_ms
    floor = (end.seconds << RANK_BITS) - one.window
    limit, degree = end.key + 1, FULLY
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
            if at < 0:
                return None
            event = stack[at]
            worth = event.degrees[slot.number]
        if event.key < floor or not (found or event is end):
            return None
        found.append((leaf, event))
        limit = event.key
        if worth < degree:
            degree = worth
    found.reverse()  # Leaves are numbered as they are written, and who comes first is written first.
    return Found(end, degree, tuple(found))


def _stacks_in_window(one: Watched, plan: Plan, end: Event, key: bytes) -> list[Stack] | None:
    """Return the stacks of a plan's leaves in a stream; None where some leaf has nothing that is not too old,
    which most searches end with.
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


def candidates_at(
    one: Watched, plan: Plan, stacks: list[Stack], end: Event, after: Event | None = None
) -> Candidates:
    """Return where to look for a match that ends with an event, and lies wholly after another if one is
    given.
    """
    newest = end.any_key if one.body.is_any_source else end.key
    floors = floors_at(plan, newest, one.body.window_s, after)
    numbers = [one.primitives[leaf] for leaf in plan.leaves]
    return Candidates(plan, stacks, numbers, caps_at(plan, stacks, end), floors, one.since_ms, one.until_ms)


def _found(given: Candidates, end: Event, degree: int, places: list[int]) -> Found:
    leaves = given.plan.leaves
    events = [(leaves[local], given.stacks[local][at]) for local, at in enumerate(places)]
    if not degree:
        degree = min([given.degree(local, at) for local, at in enumerate(places)])
    return Found(end, degree, tuple(sorted(events, key=_leaf)))


def _leaf(pair: tuple[int, Event]) -> int:
    return pair[0]


def better(one: Found | None, other: Found) -> Found:
    """Return the match with the greater degree, then the one found first, unless the other, of the same
    leaves, is later.
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
    """Return what is told of a match."""
    end, body = found.end, one.body
    source, is_any = end.stream.source, body.is_any_source
    last = end.any_key >> ANY_BITS if is_any else end.seconds
    witness = []
    for leaf, event in found.events:
        attributes = one.about[leaf].attributes
        before = last - (event.any_key >> ANY_BITS if is_any else event.seconds)
        values = bytes([event.values[index] for index in attributes])
        other = None if event.stream.source == source else event.stream.source
        witness.append(Told(leaf, event.number, before, attributes, values, other))
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
