"""A pattern as alternatives: sets of leaves with constraints between pairs.

`or` is expanded, and so is, for a `,` beside an `and`, which leaf is last (or first). The remaining
constraints each bound one event by another in the total order of events. So solutions are closed under the
leaf-wise maximum, and the latest one is found by lowering (`plugins.composite.search.search`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise, product

from plugins.composite.bounds import MOST_ALTERNATIVES, MOST_MIXED_GROUPS
from plugins.composite.pattern import SIGNS, Joined, Leaf, Pattern

Pair = tuple[int, int]
"""Two leaves, by their numbers."""


@dataclass(frozen=True, slots=True)
class Condition:
    """low ≤ T(second) − T(first) ≤ high seconds; across an `and` the absolute difference, with low = 0."""

    first: int
    second: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to satisfy a pattern."""

    leaves: tuple[int, ...]
    before: frozenset[Pair] = frozenset()
    """The first leaf of a pair precedes the second."""
    next_to: frozenset[Pair] = frozenset()
    """The second leaf is also the very next reading."""
    not_after: frozenset[Pair] = frozenset()
    """The first leaf does not follow the second."""
    between: tuple[Condition, ...] = ()
    """Conditions on ordered leaves."""
    around: tuple[Condition, ...] = ()
    """Conditions on unordered leaves."""

    @property
    def lasts(self) -> tuple[int, ...]:
        """Return the leaves that no other leaf must follow."""
        followed = {first for first, _ in self.before}
        return tuple(leaf for leaf in self.leaves if leaf not in followed)

    @property
    def firsts(self) -> tuple[int, ...]:
        """Return the leaves that no other leaf must precede."""
        following = {second for _, second in self.before}
        return tuple(leaf for leaf in self.leaves if leaf not in following)


def groups_of(one: Alternative) -> list[set[int]]:
    """Return the groups of adjacent leaves, which have one source, the earliest group first."""
    groups: list[set[int]] = []
    for first, second in one.next_to:
        touching = [group for group in groups if first in group or second in group]
        joined = {first, second}.union(*touching)
        groups = [group for group in groups if group not in touching] + [joined]
    return sorted(groups, key=min)


def mixes_too_much(alternatives: Iterable[Alternative]) -> bool:
    """Return whether a search over all sources would combine too many: one source is chosen per group."""
    return any(len(groups_of(one)) > MOST_MIXED_GROUPS for one in alternatives)


class TooManyAlternatives(ValueError):
    """An operator makes too many alternatives. The message names it with the counts of its operands."""

    def __init__(self, at: Joined, count: int) -> None:
        super().__init__(f"{count} alternatives, at most {MOST_ALTERNATIVES} are allowed")
        self.at = at
        self.count = count


def expanded(pattern: Pattern, conditions: Iterable[Condition] = ()) -> tuple[Alternative, ...]:
    """Return the alternatives of a pattern, in the order of its text. Too many raise
    `TooManyAlternatives`.
    """
    counter = iter(range(1000))
    found = _expand(pattern, lambda: next(counter))
    symmetric = unordered_pairs(pattern)
    listed = tuple(conditions)
    return tuple(_with_conditions(one, listed, symmetric) for one in found)


def unordered_pairs(pattern: Pattern) -> frozenset[Pair]:
    """Return the pairs of leaves, the smaller number first, that an `and` leaves unordered."""
    return frozenset(pair for pair, operator in meeting_places(pattern).items() if operator == "and")


def meeting_places(pattern: Pattern) -> dict[Pair, str]:
    """Return, for each pair of leaves, the smaller number first, the operator that joins them."""
    found: dict[Pair, str] = {}
    _meet(pattern, 0, found)
    return found


def _meet(pattern: Pattern, first: int, found: dict[Pair, str]) -> int:
    if isinstance(pattern, Leaf):
        return first + 1
    at = first
    ranges: list[range] = []
    for part in pattern.parts:
        end = _meet(part, at, found)
        ranges.append(range(at, end))
        at = end
    for number, one in enumerate(ranges):
        for other in ranges[number + 1 :]:
            found.update(((i, j), pattern.operator) for i in one for j in other)
    return at


def _expand(pattern: Pattern, number: Callable[[], int]) -> list[Alternative]:
    if isinstance(pattern, Leaf):
        return [Alternative((number(),))]
    parts = [_expand(part, number) for part in pattern.parts]
    if pattern.operator == "or":
        found = [one for part in parts for one in part]
        _refuse_many(pattern, len(found))
        return found
    count = 1
    for part in parts:
        count *= len(part)
    _refuse_many(pattern, count)
    if pattern.operator == "and":
        return [_together(chosen) for chosen in product(*parts)]
    found = []
    for chosen in product(*parts):
        found.extend(_in_order(chosen, is_next=pattern.operator == "next"))
        _refuse_many(pattern, len(found))
    return found


def _refuse_many(pattern: Joined, count: int) -> None:
    if count > MOST_ALTERNATIVES:
        raise TooManyAlternatives(pattern, count)


def _together(parts: Iterable[Alternative]) -> Alternative:
    parts = tuple(parts)
    return Alternative(
        tuple(leaf for part in parts for leaf in part.leaves),
        frozenset().union(*(part.before for part in parts)),
        frozenset().union(*(part.next_to for part in parts)),
        frozenset().union(*(part.not_after for part in parts)),
    )


def _in_order(parts: tuple[Alternative, ...], *, is_next: bool) -> list[Alternative]:
    """Return alternatives of consecutive parts: one, or for `next` one per choice of the last and first
    leaves where two parts meet.
    """
    whole = _together(parts)
    seams = list(pairwise(parts))
    before = whole.before.union(
        *({(last, first) for last in one.lasts for first in other.firsts} for one, other in seams)
    )
    whole = replace(whole, before=before)
    if not is_next:
        return [whole]
    touching = [list(product(one.lasts, other.firsts)) for one, other in seams]
    found = []
    for chosen in product(*touching):
        not_after = set(whole.not_after)
        for (one, other), (last, first) in zip(seams, chosen, strict=True):
            not_after |= {(leaf, last) for leaf in one.lasts if leaf != last}
            not_after |= {(first, leaf) for leaf in other.firsts if leaf != first}
        next_to = whole.next_to | set(chosen)
        found.append(replace(whole, next_to=frozenset(next_to), not_after=frozenset(not_after)))
    return found


def _with_conditions(
    one: Alternative, conditions: tuple[Condition, ...], symmetric: frozenset[Pair]
) -> Alternative:
    present = [c for c in conditions if c.first in one.leaves and c.second in one.leaves]
    return replace(
        one,
        between=tuple(c for c in present if (c.first, c.second) not in symmetric),
        around=tuple(c for c in present if (c.first, c.second) in symmetric),
    )


def written_pattern(pattern: Pattern, names: "Callable[[int], str]") -> str:
    """Return the text of a pattern; `names` maps the number of a leaf to its name."""
    counter = iter(range(1000))

    def write(part: Pattern, outer: int) -> str:
        if isinstance(part, Leaf):
            return names(next(counter))
        rank = list(SIGNS).index(part.operator)
        sign = SIGNS[part.operator]
        between = f"{sign} " if sign in ",;" else f" {sign} "
        text = between.join(write(inner, rank) for inner in part.parts)
        is_unclear = part.operator == "then" and outer == list(SIGNS).index("and")
        return f"({text})" if rank >= outer or is_unclear else text

    return write(pattern, len(SIGNS))
