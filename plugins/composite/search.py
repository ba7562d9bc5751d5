"""The one algorithm: the latest way in which an alternative is satisfied, by lowering.

    put every leaf at its latest candidate; while some constraint fails, lower the leaf that is too late;
    a leaf without candidates: no match

Each constraint bounds one event by another in one order, so whatever satisfies all of them lies leaf by leaf
at or below what is reached; what is reached first is the latest solution. A jump is one bisection.

All verbs take *candidates*: a stack a leaf, with the place above which nothing counts (`caps`), the key below
which nothing counts (`floors`), and what an event must be worth. Keys are those of the stream, or of all.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from plugins.composite.alternatives import Alternative, groups_of
from plugins.composite.events import ANY_BITS, NUMBERS, RANK_BITS, Event
from plugins.composite.stacks import AMONG_ALL, IN_STREAM, Order, Stack

BEFORE, NEXT, NOT_AFTER, BETWEEN, AROUND = range(5)
Rule = tuple[int, int, int, bool, int, int]
"""Kind, two leaves, whether their keys can be compared as they are, and bounds."""
FULLY: Final = 255
ALWAYS: Final = (-(1 << 62), 1 << 62)


@dataclass(frozen=True, slots=True)
class Plan:
    """An alternative, ready to be searched: local numbers for leaves, constraints as rows."""

    leaves: tuple[int, ...]
    """Numbers of leaves in the pattern."""
    events: tuple[int, ...]
    """Their event classes."""
    rules: tuple[Rule, ...]
    lasts: tuple[int, ...]
    """Local numbers of the leaves that nothing must follow."""
    groups: tuple[tuple[int, ...], ...]
    """Local numbers of leaves that are next to one another, hence of one source."""
    shift: int
    """How far seconds are shifted in keys."""
    chain: tuple[int, ...] = ()
    """Local numbers from the last leaf to the first, where each only has to come before the next: then one
    pass lowers all of them."""


def plan_of(one: Alternative, events: tuple[int, ...], *, is_any: bool) -> Plan:
    """Return the plan of an alternative; `events` are the classes of all leaves of the pattern."""
    local = {leaf: number for number, leaf in enumerate(one.leaves)}

    def row(kind: int, first: int, second: int, low: int = 0, high: int = 0) -> Rule:
        is_same = is_any or events[first] == events[second]
        return kind, local[first], local[second], is_same, low, high

    rules = [row(BEFORE, *pair) for pair in sorted(one.before)]
    rules += [row(NEXT, *pair) for pair in sorted(one.next_to)]
    rules += [row(NOT_AFTER, *pair) for pair in sorted(one.not_after)]
    rules += [row(BETWEEN, c.first, c.second, c.low, c.high) for c in one.between]
    rules += [row(AROUND, c.first, c.second, 0, c.high) for c in one.around]
    return Plan(
        one.leaves,
        tuple(events[leaf] for leaf in one.leaves),
        tuple(rules),
        tuple(local[leaf] for leaf in one.lasts),
        tuple(tuple(sorted(local[leaf] for leaf in group)) for group in groups_of(one)),
        ANY_BITS if is_any else RANK_BITS,
        _chain(rules, len(one.leaves)),
    )


def _chain(rules: list[Rule], leaves: int) -> tuple[int, ...]:
    """Return the leaves from the last to the first, where there is nothing but one before the other, all of
    one class; else nothing.
    """
    follows = {second: first for kind, first, second, is_same, _, _ in rules if kind == BEFORE and is_same}
    if len(rules) != leaves - 1 or len(follows) != len(rules) or leaves < 2:
        return ()
    found = [*(set(follows) - set(follows.values()))]
    while len(found) == 1 or found[-1] in follows:
        if found[-1] not in follows:
            break
        found.append(follows[found[-1]])
    return tuple(found) if len(found) == leaves else ()


class Candidates:
    """Where a search may look: a stack a leaf of a plan, and what of it counts."""

    __slots__ = ("caps", "floors", "is_any", "numbers", "order", "plan", "since_ms", "stacks", "until_ms")

    def __init__(
        self,
        plan: Plan,
        stacks: list[Stack],
        numbers: list[int],
        caps: list[int],
        floors: list[int],
        since_ms: int,
        until_ms: int,
    ) -> None:
        self.plan = plan
        self.stacks = stacks
        self.numbers = numbers
        """The primitive of each leaf."""
        self.caps = caps
        """How many events of each stack, from its bottom, count."""
        self.floors = floors
        self.since_ms = since_ms
        self.until_ms = until_ms
        self.is_any = plan.shift == ANY_BITS
        self.order: Order = AMONG_ALL if self.is_any else IN_STREAM

    def bounded(self, caps: list[int], floors: list[int]) -> "Candidates":
        """Return the same stacks, of which something else counts."""
        return Candidates(self.plan, self.stacks, self.numbers, caps, floors, self.since_ms, self.until_ms)

    def degree(self, leaf: int, at: int) -> int:
        """Return how well the event at a place of a leaf's stack satisfies it."""
        return self.stacks[leaf][at].degrees[self.numbers[leaf]]

    def key(self, leaf: int, at: int) -> int:
        """Return where the event at a place of a leaf's stack stands."""
        event = self.stacks[leaf][at]
        return event.any_key if self.is_any else event.key

    def places_below(self, leaf: int, limit: int) -> int:
        """Return how many candidates of a leaf lie below a key."""
        return bisect_left(self.stacks[leaf], limit, key=self.order)

    def latest_below(self, leaf: int, at: int, cut: int) -> int:
        """Return the place of the latest event below `at` that is worth it, or -1."""
        stack, number, floor = self.stacks[leaf], self.numbers[leaf], self.floors[leaf]
        since, until, is_any = self.since_ms, self.until_ms, self.is_any
        at -= 1
        while at >= 0:
            event = stack[at]
            if (event.any_key if is_any else event.key) < floor:
                return -1
            if event.degrees[number] >= cut and since <= event.event_ms < until:
                return at
            at -= 1
        return -1


def caps_at(plan: Plan, stacks: list[Stack], end: Event) -> list[int]:
    """Return for each leaf how many of its candidates do not happen after an event."""
    if plan.shift == ANY_BITS:
        return [bisect_right(stack, end.any_key, key=AMONG_ALL) for stack in stacks]
    above = (end.seconds + 1) << RANK_BITS
    return [
        bisect_left(stack, end.key + 1 if event == end.event else above, key=IN_STREAM)
        for stack, event in zip(stacks, plan.events, strict=True)
    ]


def floors_at(plan: Plan, newest_key: int, window_s: int, after: Event | None = None) -> list[int]:
    """Return for each leaf the least key that counts: within the window, and after an event if one is given
    (which is of the same stream).
    """
    floor = ((newest_key >> plan.shift) - window_s) << plan.shift
    if after is None:
        return [floor] * len(plan.events)
    above = (after.seconds + 1) << RANK_BITS
    return [max(floor, after.key + 1 if event == after.event else above) for event in plan.events]


def lowered(given: Candidates, cut: int) -> list[int] | None:
    """Return the places of the latest solution whose events are worth at least `cut`, or None."""
    if given.plan.chain:
        return _lowered_chain(given, cut)
    places = []
    for leaf, cap in enumerate(given.caps):
        at = given.latest_below(leaf, cap, cut)
        if at < 0:
            return None
        places.append(at)
    plan = given.plan
    moved = True
    while moved:
        moved = False
        for rule in plan.rules:
            too_late = _too_late(rule, given, places, plan.shift)
            if too_late is not None:
                leaf, below = too_late
                at = given.latest_below(leaf, min(below, places[leaf]), cut)
                if at < 0:
                    return None
                places[leaf] = at
                moved = True
    return places


def _lowered_chain(given: Candidates, cut: int) -> list[int] | None:
    places = [0] * len(given.stacks)
    limit: int | None = None
    for leaf in given.plan.chain:
        below = given.caps[leaf]
        if limit is not None:
            below = bisect_left(given.stacks[leaf], limit, 0, below, key=given.order)
        at = given.latest_below(leaf, below, cut)
        if at < 0:
            return None
        places[leaf] = at
        limit = given.key(leaf, at)
    return places


def _too_late(rule: Rule, given: Candidates, places: list[int], shift: int) -> tuple[int, int] | None:
    """Return the leaf that a constraint finds too late, and how many of its candidates are not; None where
    the constraint holds.
    """
    kind, x, y, is_same, low, high = rule
    first, second = given.key(x, places[x]), given.key(y, places[y])
    if kind == BEFORE:
        limit = second if is_same else second >> shift << shift
        return None if first < limit else (x, given.places_below(x, limit))
    if kind == NEXT:
        return _not_next(given, x, y, places)
    if kind == NOT_AFTER:
        limit = second + 1 if is_same else ((second >> shift) + 1) << shift
        return None if first < limit else (x, given.places_below(x, limit))
    apart = (second >> shift) - (first >> shift)
    if kind == BETWEEN:
        if apart < low:
            return x, given.places_below(x, ((second >> shift) - low + 1) << shift)
        if apart > high:
            return y, given.places_below(y, ((first >> shift) + high + 1) << shift)
        return None
    if apart > high:
        return y, given.places_below(y, ((first >> shift) + high + 1) << shift)
    if -apart > high:
        return x, given.places_below(x, ((second >> shift) + high + 1) << shift)
    return None


def _not_next(given: Candidates, x: int, y: int, places: list[int]) -> tuple[int, int] | None:
    """Return that the second leaf is too late where a reading lies between it and the first."""
    stack = given.stacks[y]
    first, second = given.stacks[x][places[x]], stack[places[y]]
    if first.key >= second.key:
        return None  # The rule that it comes before has its say first.
    number = first.number
    if (second.number - number) % NUMBERS == 1:
        return None
    begin = bisect_right(stack, given.key(x, places[x]), key=given.order)
    end = bisect_right(stack, 1, begin, places[y], key=lambda event: (event.number - number) % NUMBERS)
    return y, end


def best_degree(given: Candidates, end: Event, least: int) -> tuple[int, list[int]] | None:
    """Return the greatest degree, from `least` on, of a solution that ends with an event, and the latest one
    of that degree.
    """
    found = _ending(given, end, least)
    if found is None:
        return None
    degree = _degree(given, found)
    if degree == FULLY:
        return degree, found
    leaves = range(len(given.caps))
    most = max(
        (
            given.degree(leaf, cap - 1)
            for leaf, cap in zip(leaves, given.caps, strict=True)
            if leaf in given.plan.lasts and cap and given.stacks[leaf][cap - 1] is end
        ),
        default=0,
    )
    if degree >= most:
        return degree, found
    present = sorted(
        {
            value
            for leaf, cap, floor in zip(leaves, given.caps, given.floors, strict=True)
            for value in [
                event.degrees[given.numbers[leaf]]
                for event in given.stacks[leaf][given.places_below(leaf, floor) : cap]
            ]
            if degree < value <= most
        }
    )
    low, high = 0, len(present)
    while low < high:
        middle = (low + high) // 2
        better = _ending(given, end, present[middle])
        if better is None:
            high = middle
        else:
            found, low = better, middle + 1
    degree = _degree(given, found)
    again = _ending(given, end, degree)
    return degree, found if again is None else again


def _ending(given: Candidates, end: Event, cut: int) -> list[int] | None:
    places = lowered(given, cut)
    if places is None:
        return None
    stacks = given.stacks
    for leaf, at in enumerate(places):
        if stacks[leaf][at] is end:
            return places
    return None


def _degree(given: Candidates, places: list[int]) -> int:
    return min([given.degree(leaf, at) for leaf, at in enumerate(places)])


def every(given: Candidates, end: Event, least: int) -> Iterator[list[int]]:
    """Yield the places of all solutions of which an event is the last, the latest first.

    Each choice is the latest that some solution has, so nothing is tried in vain: from one solution to the
    next it takes at most one lowering a leaf, and one to find that there is none.
    """
    yield from _assign(_alone_last(given, end), end, least, 0)


def with_event(given: Candidates, event: Event) -> Iterator[Candidates]:
    """Yield where to look for solutions that an event is in: once for each leaf that it satisfies."""
    key = event.any_key if given.is_any else event.key
    for leaf, stack in enumerate(given.stacks):
        at = given.places_below(leaf, key)
        if at < given.caps[leaf] and stack[at] is event:
            yield _pinned(given, leaf, at)


def _alone_last(given: Candidates, end: Event) -> Candidates:
    """Leave out what shares the second of an event and has a higher class: that would be the last."""
    if given.is_any:
        return given
    second = end.seconds << RANK_BITS
    caps = [
        min(cap, given.places_below(leaf, second)) if given.plan.events[leaf] > end.event else cap
        for leaf, cap in enumerate(given.caps)
    ]
    return given.bounded(caps, given.floors)


def _pinned(given: Candidates, leaf: int, at: int) -> Candidates:
    caps, floors = list(given.caps), list(given.floors)
    caps[leaf], floors[leaf] = at + 1, max(floors[leaf], given.key(leaf, at))
    return given.bounded(caps, floors)


def _assign(given: Candidates, end: Event, least: int, leaf: int) -> Iterator[list[int]]:
    if leaf == len(given.caps):
        yield [cap - 1 for cap in given.caps]
        return
    while (found := _ending(given, end, least)) is not None:
        yield from _assign(_pinned(given, leaf, found[leaf]), end, least, leaf + 1)
        caps = list(given.caps)
        caps[leaf] = found[leaf]
        given = given.bounded(caps, given.floors)


def total_order(event: Event) -> tuple[int, int, int]:
    """Return where an event stands among all of its stream, of whatever class: who is the last of a match."""
    return event.seconds, event.event, event.key
