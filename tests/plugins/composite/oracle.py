"""What composite subscriptions mean, by trying every assignment: no code of the language is used.

A pattern is a nested tuple: ("leaf", primitive), or an operator ("next", "then", "and", "or") with operands.
Leaves are numbered as they are written. An event is what the definition says of it, and nothing else.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True)
class Seen:
    """A reading: whose, of which class, its number, its second, its key, and what it satisfies how well."""

    source: int
    cls: int
    number: int
    second: int
    key: tuple[int, ...] = ()
    degrees: tuple[tuple[int, int], ...] = ()

    def degree(self, primitive: int) -> int:
        return dict(self.degrees).get(primitive, 0)


@dataclass(frozen=True)
class Asked:
    """A subscription: pattern, conditions (from leaf, to leaf, least, most), window, scope, least degree."""

    pattern: tuple
    conditions: tuple[tuple[int, int, int, int], ...] = ()
    window: int = 1000
    is_any: bool = False
    least: int = 1


def serial_less(one: int, other: int) -> bool:
    return 0 < (other - one) % 65536 < 32768


def before(asked: Asked, one: Seen, other: Seen) -> bool:
    if asked.is_any:
        if one.second != other.second:
            return one.second < other.second
        if (one.source, one.cls) != (other.source, other.cls):
            return (one.source, one.cls) < (other.source, other.cls)
        return serial_less(one.number, other.number)
    if one.source != other.source:
        return False
    if one.cls == other.cls:
        return serial_less(one.number, other.number)
    return one.second < other.second


def next_to(one: Seen, other: Seen) -> bool:
    same = (one.source, one.cls) == (other.source, other.cls)
    return same and (one.number + 1) % 65536 == other.number and one.second <= other.second


def leaves(pattern: tuple) -> list[int]:
    if pattern[0] == "leaf":
        return [pattern[1]]
    return [leaf for part in pattern[1:] for leaf in leaves(part)]


def holds(asked: Asked, pattern: tuple, first: int, given: dict[int, Seen]) -> tuple[bool, int, list[Seen]]:
    """Return whether the leaves that are given, and no others of this part, satisfy it."""
    if pattern[0] == "leaf":
        there = first in given
        return there, first + 1, [given[first]] if there else []
    at, inside = first, []
    for part in pattern[1:]:
        is_satisfied, end, events = holds(asked, part, at, given)
        inside.append((is_satisfied, events, any(leaf in given for leaf in range(at, end))))
        at = end
    everything = [event for _, events, _ in inside for event in events]
    if pattern[0] == "or":
        present = [found for found in inside if found[2]]
        return len(present) == 1 and present[0][0], at, everything
    if not all(is_satisfied for is_satisfied, _, _ in inside):
        return False, at, everything
    if pattern[0] == "and":
        return True, at, everything
    done: list[Seen] = []
    previous: list[Seen] = []
    for _, events, _ in inside:
        if not all(before(asked, one, other) for one in done for other in events):
            return False, at, everything
        if pattern[0] == "next" and previous:
            lasts = [e for e in previous if not any(before(asked, e, other) for other in previous)]
            firsts = [e for e in events if not any(before(asked, other, e) for other in events)]
            if not any(next_to(one, other) for one in lasts for other in firsts):
                return False, at, everything
        done += events
        previous = events
    return True, at, everything


def meeting(pattern: tuple, one: int, other: int, first: int = 0) -> str:
    """Return the operator in which two leaves meet."""
    at = first
    for part in pattern[1:]:
        inner = range(at, at + len(leaves(part)))
        if one in inner and other in inner:
            return meeting(part, one, other, at)
        at += len(leaves(part))
    return pattern[0]


def matches(asked: Asked, events: list[Seen]) -> Iterator[dict[int, Seen]]:
    """Yield every assignment of events to leaves that is a match."""
    used = leaves(asked.pattern)
    for chosen in product([None, *events], repeat=len(used)):
        given = {leaf: event for leaf, event in enumerate(chosen) if event is not None}
        if not given or any(event.degree(used[leaf]) < asked.least for leaf, event in given.items()):
            continue
        if not asked.is_any and len({event.source for event in given.values()}) > 1:
            continue
        if len({event.key for event in given.values()}) > 1:
            continue
        seconds = [event.second for event in given.values()]
        if max(seconds) - min(seconds) > asked.window:
            continue
        if not holds(asked, asked.pattern, 0, given)[0]:
            continue
        if all(_within(asked, condition, given) for condition in asked.conditions):
            yield given


def _within(asked: Asked, condition: tuple[int, int, int, int], given: dict[int, Seen]) -> bool:
    one, other, least, most = condition
    if one not in given or other not in given:
        return True
    apart = given[other].second - given[one].second
    if meeting(asked.pattern, one, other) == "and":
        apart = abs(apart)
    return least <= apart <= most


def degree(asked: Asked, given: dict[int, Seen]) -> int:
    used = leaves(asked.pattern)
    return min(event.degree(used[leaf]) for leaf, event in given.items())


def ends(asked: Asked, events: list[Seen]) -> dict[Seen, int]:
    """Return the events that are the last of some match, and the greatest degree of such a one."""
    found: dict[Seen, int] = {}
    for given in matches(asked, events):
        for event in set(given.values()):
            if not any(before(asked, event, other) for other in given.values()):
                found[event] = max(found.get(event, 0), degree(asked, given))
    return found


def consumed(asked: Asked, events: list[Seen]) -> dict[Seen, int]:
    """Return the ends that `first` reports for one source and key, in the order of its stream."""
    found: dict[Seen, int] = {}
    every = list(matches(asked, events))
    previous: Seen | None = None
    for end in sorted(events, key=lambda e: (e.second, e.cls)):  # as they come, within a class
        best = 0
        for given in every:
            inside = list(given.values())
            if end not in inside or any(before(asked, end, other) for other in inside):
                continue
            if previous is not None and not all(before(asked, previous, other) for other in inside):
                continue
            best = max(best, degree(asked, given))
        if best:
            found[end], previous = best, end
    return found


def buckets(asked: Asked, events: list[Seen], quiet_s: int) -> set[tuple[int, tuple[int, ...], int]]:
    """Return source, key and piece of time of each composite that `quiet` lets pass: one for each that has an
    end.
    """
    return {(end.source, end.key, end.second % 65536 // quiet_s) for end in ends(asked, events)}
