"""The one algorithm: the latest way in which an alternative is satisfied, by lowering.

    put every leaf at its latest candidate; while some constraint fails, lower the leaf that is too late;
    a leaf without candidates: no match

Each constraint bounds one event by another in one order, so whatever satisfies all of them lies leaf by leaf
at or below what is reached; what is reached first is the latest solution. A jump is one bisection.

All verbs take *candidates*: a stack a leaf, with the place above which nothing counts (`caps`), the key below
which nothing counts (`floors`), and what an event must be worth.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from plugins.composite.alternatives import Alternative, groups_of
from plugins.composite.events import ANY_BITS, NUMBERS, RANK_BITS, Event, Stack

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


@dataclass(slots=True)
class Candidates:
    """Where a search may look: a stack a leaf of a plan, and what of it counts."""

    plan: Plan
    stacks: list[Stack]
    caps: list[int]
    """How many events of each stack, from its bottom, count."""
    floors: list[int]
    since_ms: int = ALWAYS[0]
    until_ms: int = ALWAYS[1]

    def latest_below(self, leaf: int, at: int, cut: int) -> int:
        """Return the place of the latest event below `at` that is worth it, or -1."""
        stack = self.stacks[leaf]
        keys, degrees, events, floor = stack.keys, stack.degrees, stack.events, self.floors[leaf]
        since, until = self.since_ms, self.until_ms
        at -= 1
        while at >= 0 and keys[at] >= floor:
            if degrees[at] >= cut and since <= events[at].event_ms < until:
                return at
            at -= 1
        return -1


def caps_at(plan: Plan, stacks: list[Stack], end: Event) -> list[int]:
    """Return for each leaf how many of its candidates do not happen after an event."""
    if plan.shift == ANY_BITS:
        return [bisect_right(stack.keys, end.any_key) for stack in stacks]
    above = (end.seconds + 1) << RANK_BITS
    return [
        bisect_right(stack.keys, end.key) if event == end.event else bisect_left(stack.keys, above)
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
        keys = given.stacks[leaf].keys
        below = given.caps[leaf] if limit is None else bisect_left(keys, limit, 0, given.caps[leaf])
        at = given.latest_below(leaf, below, cut)
        if at < 0:
            return None
        places[leaf] = at
        limit = keys[at]
    return places


def _too_late(rule: Rule, given: Candidates, places: list[int], shift: int) -> tuple[int, int] | None:
    """Return the leaf that a constraint finds too late, and how many of its candidates are not; None where
    the constraint holds.
    """
    kind, x, y, is_same, low, high = rule
    stacks = given.stacks
    xs, ys = stacks[x].keys, stacks[y].keys
    first, second = xs[places[x]], ys[places[y]]
    if kind == BEFORE:
        limit = second if is_same else second >> shift << shift
        return None if first < limit else (x, bisect_left(xs, limit))
    if kind == NEXT:
        return _not_next(given, x, y, places)
    if kind == NOT_AFTER:
        limit = second + 1 if is_same else ((second >> shift) + 1) << shift
        return None if first < limit else (x, bisect_left(xs, limit))
    apart = (second >> shift) - (first >> shift)
    if kind == BETWEEN:
        if apart < low:
            return x, bisect_left(xs, ((second >> shift) - low + 1) << shift)
        if apart > high:
            return y, bisect_left(ys, ((first >> shift) + high + 1) << shift)
        return None
    if apart > high:
        return y, bisect_left(ys, ((first >> shift) + high + 1) << shift)
    if -apart > high:
        return x, bisect_left(xs, ((second >> shift) + high + 1) << shift)
    return None


def _not_next(given: Candidates, x: int, y: int, places: list[int]) -> tuple[int, int] | None:
    """Return that the second leaf is too late where a reading lies between it and the first."""
    first, second = given.stacks[x].events[places[x]], given.stacks[y].events[places[y]]
    if first.key >= second.key:
        return None  # The rule that it comes before has its say first.
    number = first.number
    if (second.number - number) % NUMBERS == 1:
        return None
    stack = given.stacks[y]
    begin = bisect_right(stack.keys, given.stacks[x].keys[places[x]])
    end = bisect_right(stack.events, 1, begin, places[y], key=lambda event: (event.number - number) % NUMBERS)
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
    most = max(
        (
            stack.degrees[cap - 1]
            for stack, cap, leaf in zip(given.stacks, given.caps, range(len(given.caps)), strict=True)
            if leaf in given.plan.lasts and cap and stack.events[cap - 1] is end
        ),
        default=0,
    )
    if degree >= most:
        return degree, found
    present = sorted(
        {
            value
            for stack, cap, floor in zip(given.stacks, given.caps, given.floors, strict=True)
            for value in stack.degrees[bisect_left(stack.keys, floor) : cap]
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
    if any(stacks[leaf].events[at] is end for leaf, at in enumerate(places)):
        return places
    return None


def _degree(given: Candidates, places: list[int]) -> int:
    return min(stack.degrees[at] for stack, at in zip(given.stacks, places, strict=True))


def every(given: Candidates, end: Event, least: int) -> Iterator[list[int]]:
    """Yield the places of all solutions of which an event is the last, the latest first.

    Each choice is the latest that some solution has, so nothing is tried in vain: from one solution to the
    next it takes at most one lowering a leaf, and one to find that there is none.
    """
    yield from _assign(_alone_last(given, end), end, least, 0)


def with_event(given: Candidates, event: Event) -> Iterator[Candidates]:
    """Yield where to look for solutions that an event is in: once for each leaf that it satisfies."""
    key = event.any_key if given.plan.shift == ANY_BITS else event.key
    for leaf, stack in enumerate(given.stacks):
        at = bisect_left(stack.keys, key)
        if at < given.caps[leaf] and stack.events[at] is event:
            yield _pinned(given, leaf, at)


def _alone_last(given: Candidates, end: Event) -> Candidates:
    """Leave out what shares the second of an event and has a higher class: that would be the last."""
    if given.plan.shift == ANY_BITS:
        return given
    second = end.seconds << RANK_BITS
    caps = [
        min(cap, bisect_left(stack.keys, second)) if event > end.event else cap
        for cap, stack, event in zip(given.caps, given.stacks, given.plan.events, strict=True)
    ]
    return replace(given, caps=caps)


def _pinned(given: Candidates, leaf: int, at: int) -> Candidates:
    caps, floors = list(given.caps), list(given.floors)
    caps[leaf], floors[leaf] = at + 1, max(floors[leaf], given.stacks[leaf].keys[at])
    return replace(given, caps=caps, floors=floors)


def _assign(given: Candidates, end: Event, least: int, leaf: int) -> Iterator[list[int]]:
    if leaf == len(given.caps):
        yield [cap - 1 for cap in given.caps]
        return
    while (found := _ending(given, end, least)) is not None:
        yield from _assign(_pinned(given, leaf, found[leaf]), end, least, leaf + 1)
        caps = list(given.caps)
        caps[leaf] = found[leaf]
        given = replace(given, caps=caps)


def total_order(event: Event) -> tuple[int, int, int]:
    """Return where an event stands among all of its stream, of whatever class: who is the last of a match."""
    return event.seconds, event.event, event.key
