"""Search for the latest solution of an alternative, by lowering.

    put every leaf at its latest candidate; while some constraint fails, lower the leaf that is too late;
    a leaf without candidates: no match

Each constraint bounds one event by another in one order, so every solution lies leaf by leaf at or below the
current places; the first solution reached is the latest one. A jump is one bisection.

All functions take *candidates*: one stack per leaf, with the place above which nothing counts (`caps`), the
key below which nothing counts (`floors`), and a minimum degree. Keys are those of the stream, or of all
streams.

Work is counted in a `WorkMeter`: one unit per constraint checked and per event examined.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from plugins.composite.alternatives import Alternative, groups_of
from plugins.composite.search.events import ANY_BITS, NUMBERS, RANK_BITS, Event
from plugins.composite.search.stacks import AMONG_ALL, IN_STREAM, Order, Stack
from plugins.work import WorkMeter

BEFORE, NEXT, NOT_AFTER, BETWEEN, AROUND = range(5)
Rule = tuple[int, int, int, bool, int, int]
"""Kind, two leaves, whether their keys can be compared directly, and bounds."""
FULLY: Final = 255
ALWAYS: Final = (-(1 << 62), 1 << 62)


@dataclass(frozen=True, slots=True)
class Plan:
    """An alternative, ready for search: local numbers for leaves, constraints as rows."""

    leaves: tuple[int, ...]
    """Numbers of leaves in the pattern."""
    events: tuple[int, ...]
    """Their event classes."""
    rules: tuple[Rule, ...]
    lasts: tuple[int, ...]
    """Local numbers of the leaves that no other leaf must follow."""
    groups: tuple[tuple[int, ...], ...]
    """Local numbers of adjacent leaves, which have one source."""
    shift: int
    """Shift of seconds in keys."""
    chain: tuple[int, ...] = ()
    """Local numbers from the last leaf to the first if each only has to precede the next: then one pass
    lowers all of them."""


def plan_of(one: Alternative, events: tuple[int, ...], *, is_any: bool) -> Plan:
    """Return the plan of an alternative; `events` are the classes of all leaves of the pattern."""
    local = {leaf: number for number, leaf in enumerate(one.leaves)}

    def row(kind: int, first: int, second: int, low: int = 0, high: int = 0) -> Rule:
        is_same = is_any or events[first] == events[second]
        return kind, local[first], local[second], is_same, low, high

    rules = [row(BETWEEN, c.first, c.second, c.low, c.high) for c in one.between]
    rules += [row(AROUND, c.first, c.second, 0, c.high) for c in one.around]
    rules += [row(NEXT, *pair) for pair in sorted(one.next_to)]
    rules += [row(NOT_AFTER, *pair) for pair in sorted(one.not_after)]
    rules += [row(BEFORE, *pair) for pair in sorted(one.before)]
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
    """Return the leaves from the last to the first if the only rules are that each precedes the next, all of
    one class; else nothing. A fork, `a; (b and c)`, is not a chain: b and c come in any order.
    """
    before = [(first, second) for kind, first, second, is_same, _, _ in rules if kind == BEFORE and is_same]
    previous = {second: first for first, second in before}
    following = dict(before)
    if leaves < 2 or not len(rules) == len(previous) == len(following) == leaves - 1:
        return ()
    found = [leaf for leaf in range(leaves) if leaf not in following]
    while found[-1] in previous:
        found.append(previous[found[-1]])
    return tuple(found)


def ending_plans(plan: Plan, window_s: int) -> tuple[Plan, ...]:
    """Return, for each leaf that may be last, a plan in which it is and the window is a rule: such a search
    need not know the end.
    """
    following = {second for kind, _, second, _, _, _ in plan.rules if kind == BEFORE}
    events, is_any = plan.events, plan.shift == ANY_BITS
    found = []
    for last in plan.lasts:
        rules = [
            (BETWEEN, first, last, is_any or events[first] == events[last], 0, window_s)
            for first in range(len(events))
            if first not in following and first != last
        ]
        rules += [
            (NOT_AFTER, other, last, is_any or events[other] == events[last], 0, 0)
            for other in plan.lasts
            if other != last
        ]
        found.append(Plan(plan.leaves, events, (*rules, *plan.rules), (last,), plan.groups, plan.shift))
    return tuple(found)


class Candidates:
    """Where a search may look: one stack per leaf of a plan, and its bounds."""

    __slots__ = (
        "caps",
        "floors",
        "is_any",
        "is_hopeless",
        "meter",
        "numbers",
        "order",
        "pinned",
        "plan",
        "since_ms",
        "stacks",
        "until_ms",
    )

    def __init__(
        self,
        plan: Plan,
        stacks: list[Stack],
        numbers: list[int],
        caps: list[int],
        floors: list[int],
        since_ms: int,
        until_ms: int,
        meter: WorkMeter,
    ) -> None:
        self.plan = plan
        self.stacks = stacks
        self.numbers = numbers
        """The primitive of each leaf."""
        self.caps = caps
        """Number of events of each stack, from its bottom, that count."""
        self.floors = floors
        self.since_ms = since_ms
        self.until_ms = until_ms
        self.meter = meter
        self.is_any = plan.shift == ANY_BITS
        self.order: Order = AMONG_ALL if self.is_any else IN_STREAM
        self.pinned = -1
        """The leaf with a single candidate, because an event is searched for there."""
        self.is_hopeless = False
        """Whether a search failed because of the other leaves alone: then it fails wherever the event is
        pinned."""

    def bounded(self, caps: list[int], floors: list[int]) -> "Candidates":
        """Return the same stacks with other bounds."""
        return Candidates(
            self.plan, self.stacks, self.numbers, caps, floors, self.since_ms, self.until_ms, self.meter
        )

    def degree(self, leaf: int, at: int) -> int:
        """Return the degree of the event at a place of a leaf's stack."""
        return self.stacks[leaf][at].degrees[self.numbers[leaf]]

    def key(self, leaf: int, at: int) -> int:
        """Return the key of the event at a place of a leaf's stack."""
        event = self.stacks[leaf][at]
        return event.any_key if self.is_any else event.key

    def places_below(self, leaf: int, limit: int) -> int:
        """Return the number of candidates of a leaf below a key."""
        return bisect_left(self.stacks[leaf], limit, key=self.order)

    def place_of(self, leaf: int, event: Event) -> int:
        """Return the place of an event among the candidates of a leaf that count, or -1."""
        key = event.any_key if self.is_any else event.key
        at = self.places_below(leaf, key)
        is_there = at < self.caps[leaf] and self.stacks[leaf][at] is event and key >= self.floors[leaf]
        return at if is_there else -1

    def latest_below(self, leaf: int, at: int, cut: int) -> int:
        """Return the place of the latest event below `at` with at least this degree, or -1."""
        stack, number, floor = self.stacks[leaf], self.numbers[leaf], self.floors[leaf]
        since, until, is_any = self.since_ms, self.until_ms, self.is_any
        at -= 1
        top = at
        while at >= 0:
            event = stack[at]
            if (event.any_key if is_any else event.key) < floor:
                at = -1
                break
            if event.degrees[number] >= cut and since <= event.event_ms < until:
                break
            at -= 1
        if at != top:
            self.meter.spend(top - at)
        return at


def around(plan: Plan, stacks: list[Stack], event: Event, window_s: int) -> tuple[list[int], list[int]]:
    """Return caps and floors of what can be in one match with an event: everything within a window."""
    is_any, shift = plan.shift == ANY_BITS, plan.shift
    second = (event.any_key if is_any else event.key) >> shift
    above, order = (second + window_s + 1) << shift, AMONG_ALL if is_any else IN_STREAM
    return (
        [bisect_left(stack, above, key=order) for stack in stacks],
        [(second - window_s) << shift] * len(stacks),
    )


def caps_at(plan: Plan, stacks: list[Stack], end: Event) -> list[int]:
    """Return, for each leaf, the number of candidates that do not follow an event."""
    if plan.shift == ANY_BITS:
        return [bisect_right(stack, end.any_key, key=AMONG_ALL) for stack in stacks]
    above = (end.seconds + 1) << RANK_BITS
    return [
        bisect_left(stack, end.key + 1 if event == end.event else above, key=IN_STREAM)
        for stack, event in zip(stacks, plan.events, strict=True)
    ]


def floors_at(plan: Plan, newest_key: int, window_s: int, after: Event | None = None) -> list[int]:
    """Return, for each leaf, the least key that counts: within the window, and after an event of the same
    stream if given.
    """
    floor = ((newest_key >> plan.shift) - window_s) << plan.shift
    if after is None:
        return [floor] * len(plan.events)
    above = (after.seconds + 1) << RANK_BITS
    return [max(floor, after.key + 1 if event == after.event else above) for event in plan.events]


def lowered(given: Candidates, cut: int, end: Event | None = None) -> list[int] | None:
    """Return the places of the latest solution whose events have at least the degree `cut`, or None. With
    `end`, return None as soon as no leaf that may be last has that event.
    """
    plan = given.plan
    if plan.chain:
        return _lowered_chain(given, cut, end)
    places = []
    for leaf, cap in enumerate(given.caps):
        at = given.latest_below(leaf, cap, cut)
        if at < 0:
            given.is_hopeless = leaf != given.pinned
            return None
        places.append(at)
    if end is not None and not _has_end(given, places, end):
        return None
    meter, pinned, is_pin_used = given.meter, given.pinned, False
    moved = True
    while moved:
        moved = False
        meter.spend(len(plan.rules))
        for rule in plan.rules:
            steps = 0
            too_late = _too_late(rule, given, places, plan.shift)
            while too_late is not None:
                leaf, below = too_late
                is_pin_used = is_pin_used or pinned == rule[1] or pinned == rule[2]
                at = given.latest_below(leaf, min(below, places[leaf]), cut)
                if at < 0:
                    meter.spend(steps)
                    given.is_hopeless = not is_pin_used
                    return None
                places[leaf] = at
                if end is not None and leaf in plan.lasts and not _has_end(given, places, end):
                    meter.spend(steps)
                    return None
                moved = True
                steps += 1
                too_late = _too_late(rule, given, places, plan.shift)
            if steps:
                meter.spend(steps)
    return places


def _has_end(given: Candidates, places: list[int], end: Event) -> bool:
    """Return whether a leaf that may be last has this event."""
    stacks = given.stacks
    return any(stacks[leaf][places[leaf]] is end for leaf in given.plan.lasts)


def _lowered_chain(given: Candidates, cut: int, end: Event | None) -> list[int] | None:
    places = [0] * len(given.stacks)
    limit: int | None = None
    given.meter.spend(len(places))
    for leaf in given.plan.chain:
        below = given.caps[leaf]
        if limit is not None:
            below = bisect_left(given.stacks[leaf], limit, 0, below, key=given.order)
        at = given.latest_below(leaf, below, cut)
        if at < 0 or (limit is None and end is not None and given.stacks[leaf][at] is not end):
            return None
        places[leaf] = at
        limit = given.key(leaf, at)
    return places


def _too_late(rule: Rule, given: Candidates, places: list[int], shift: int) -> tuple[int, int] | None:
    """Return the leaf that is too late for a constraint, and the number of its candidates that are not; None
    if the constraint holds.
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
    """Return that the second leaf is too late if a reading lies between it and the first."""
    stack = given.stacks[y]
    first, second = given.stacks[x][places[x]], stack[places[y]]
    if first.key >= second.key:
        return None  # the rule that it precedes is checked first
    number = first.number
    if (second.number - number) % NUMBERS == 1:
        return None
    begin = bisect_right(stack, given.key(x, places[x]), key=given.order)
    end = bisect_right(stack, 1, begin, places[y], key=lambda event: (event.number - number) % NUMBERS)
    return y, end


def best_degree(given: Candidates, end: Event, least: int) -> tuple[int, list[int]] | None:
    """Return the greatest degree, at least `least`, of a solution that ends with an event, and the latest
    solution of that degree.
    """
    found = lowered(given, least, end)
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
    values: set[int] = set()
    for leaf, cap, floor in zip(leaves, given.caps, given.floors, strict=True):
        inside = given.stacks[leaf][given.places_below(leaf, floor) : cap]
        given.meter.spend(len(inside))
        number = given.numbers[leaf]
        values.update([event.degrees[number] for event in inside])
    present = sorted([value for value in values if degree < value <= most])
    low, high = 0, len(present)
    while low < high:
        middle = (low + high) // 2
        better = lowered(given, present[middle], end)
        if better is None:
            high = middle
        else:
            found, low = better, middle + 1
    degree = _degree(given, found)
    again = lowered(given, degree, end)
    return degree, found if again is None else again


def _degree(given: Candidates, places: list[int]) -> int:
    return min([given.degree(leaf, at) for leaf, at in enumerate(places)])


def every(given: Candidates, end: Event, least: int) -> Iterator[list[int]]:
    """Yield the places of all solutions that end with an event, the latest first.

    Each choice is the latest one of some solution, so no search is wasted: from one solution to the next it
    takes at most one lowering per leaf, and one to find that there are no more.
    """
    yield from _assign(_alone_last(given, end), end, least, 0)


def with_event(given: Candidates, event: Event) -> Iterator[Candidates]:
    """Yield the candidates of solutions that contain an event: one per leaf that it satisfies."""
    for leaf in range(len(given.stacks)):
        at = given.place_of(leaf, event)
        if at >= 0:
            yield _pinned(given, leaf, at)


def ends_with(given: Candidates, least: int, is_known: Callable[[Event], bool]) -> Iterator[Event]:
    """Yield the last events of the solutions of an ending plan, the latest first, each once; known ones are
    excluded.

    The next solution lies leaf by leaf below the previous one, so all of them together are one pass through
    the stacks.
    """
    (last,) = given.plan.lasts
    stack = given.stacks[last]
    places = lowered(given, least)
    while places is not None:
        at = top = places[last]
        if is_known(stack[at]):
            while at and given.key(last, at - 1) >= given.floors[last] and is_known(stack[at - 1]):
                at -= 1
            given.meter.spend(top - at)
        else:
            yield stack[at]
        given.caps = [place + 1 for place in places]
        given.caps[last] = at
        places = lowered(given, least)
        given.is_hopeless = False  # by the remaining candidates, not by all


def _alone_last(given: Candidates, end: Event) -> Candidates:
    """Exclude events in the same second with a higher class: they would be last."""
    if given.is_any:
        return given
    second = end.seconds << RANK_BITS
    caps = [
        min(cap, given.places_below(leaf, second)) if given.plan.events[leaf] > end.event else cap
        for leaf, cap in enumerate(given.caps)
    ]
    return given.bounded(caps, given.floors)


def pin(given: Candidates, leaf: int, at: int) -> None:
    """Restrict a leaf to the candidate at this place."""
    given.caps[leaf], given.floors[leaf] = at + 1, max(given.floors[leaf], given.key(leaf, at))
    given.pinned = leaf


def _pinned(given: Candidates, leaf: int, at: int) -> Candidates:
    found = given.bounded(list(given.caps), list(given.floors))
    pin(found, leaf, at)
    return found


def _assign(given: Candidates, end: Event, least: int, leaf: int) -> Iterator[list[int]]:
    if leaf == len(given.caps):
        yield [cap - 1 for cap in given.caps]
        return
    while (found := lowered(given, least, end)) is not None:
        yield from _assign(_pinned(given, leaf, found[leaf]), end, least, leaf + 1)
        caps = list(given.caps)
        caps[leaf] = found[leaf]
        given = given.bounded(caps, given.floors)


def total_order(event: Event) -> tuple[int, int, int]:
    """Return the place of an event among all of its stream, of any class: the greatest one ends a match."""
    return event.seconds, event.event, event.key
