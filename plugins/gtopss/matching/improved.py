"""`improved`: the chapter's second algorithm (§5.3.2). Labels first, and constraints before the join.

A hash of labels, each a hash of pairs of nodes with one star for any variable. Under a pair with a star are
*constraint tables*: members without a comparison, and members by rising bounds, so that one look-up finds all
that a value satisfies. Members with constraints at both ends must pass both. The rest is joined, and all
constraints are tested again, per subscription.
"""

import bisect
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from knowledge_manager.graphs.terms import Iri
from knowledge_manager.graphs.values import Value, value_of
from plugins.gtopss.match import Judgement
from plugins.gtopss.matching.joins import judged_by_join
from plugins.gtopss.matching.numbered_terms import worth
from plugins.gtopss.pattern import ORDERS, Code, Constraint, End, Pattern
from plugins.gtopss.statements import Pairs, Statements
from plugins.language import SubscriptionKey

Member = tuple[SubscriptionKey, int]
"""The subscription and the number of its edge."""

_STAR: Final = "*"
_ABOVE, _BELOW, _EQUAL = 0, 1, 2


@dataclass(slots=True)
class ConstraintTable:
    """Members by their first comparison of the object: =, <, > are lists of rising bounds (equal is both
    above and below), all others are free. A bound is a double, so its results are tested again.
    """

    free: dict[Member, None] = field(default_factory=dict)
    ordered: dict[tuple[str, int], list[tuple[float, Member]]] = field(default_factory=dict)

    def add(self, member: Member, constraint: Constraint | None) -> None:
        kind, bound = _place(constraint)
        if constraint is None or kind is None:
            self.free[member] = None
        else:
            bisect.insort(self.ordered.setdefault(kind, []), (bound, member))

    def remove(self, member: Member, constraint: Constraint | None) -> None:
        kind, bound = _place(constraint)
        if constraint is None or kind is None:
            del self.free[member]
        else:
            self.ordered[kind].remove((bound, member))

    def satisfied(self, value: Value | None, double: float) -> Iterator[Member]:
        """Yield the members that a value may satisfy."""
        yield from self.free
        if value is None:
            return
        above = self.ordered.get((value.kind, _ABOVE), [])
        for _, member in above[: bisect.bisect_right(above, double, key=_bound)]:
            yield member
        below = self.ordered.get((value.kind, _BELOW), [])
        for _, member in below[bisect.bisect_left(below, double, key=_bound) :]:
            yield member
        equal = self.ordered.get((value.kind, _EQUAL), [])
        begin, end = (cut(equal, double, key=_bound) for cut in (bisect.bisect_left, bisect.bisect_right))
        for _, member in equal[begin:end]:
            yield member

    def __bool__(self) -> bool:
        return bool(self.free or any(self.ordered.values()))


class ImprovedSearch:
    """Holds patterns by labels."""

    def __init__(self) -> None:
        self._patterns: dict[SubscriptionKey, Pattern] = {}
        self._labels: dict[Iri, dict[tuple[object, object], ConstraintTable]] = {}

    def enter(self, key: SubscriptionKey, pattern: Pattern) -> None:
        """Add a pattern under an unused key."""
        self._patterns[key] = pattern
        for number, edge in enumerate(pattern.edges):
            pairs = self._labels.setdefault(edge.property, {})
            table = pairs.setdefault((_starred(edge.subject), _starred(edge.object)), ConstraintTable())
            table.add((key, number), _compared(pattern, edge.object))

    def leave(self, key: SubscriptionKey) -> None:
        pattern = self._patterns.pop(key)
        for number, edge in enumerate(pattern.edges):
            pairs, ends = self._labels[edge.property], (_starred(edge.subject), _starred(edge.object))
            pairs[ends].remove((key, number), _compared(pattern, edge.object))
            if not pairs[ends]:
                del pairs[ends]
            if not pairs:
                del self._labels[edge.property]

    def judgements(self, statements: Statements) -> Iterator[tuple[SubscriptionKey, Judgement]]:
        """Yield the judgements of patterns for which all edges are found with their constraints."""
        found: dict[Member, Pairs] = {}
        for property_, pairs in statements.by_property.items():
            tables = self._labels.get(property_, {}) if isinstance(property_, Iri) else {}
            for pair in pairs if tables else ():
                self._note(pair, tables, statements, found)
        edges: dict[SubscriptionKey, int] = {}
        for key, _ in found:
            edges[key] = edges.get(key, 0) + 1
        for key, count in edges.items():
            pattern = self._patterns[key]
            if count == len(pattern.edges):
                tables_of = [found[key, number] for number in range(count)]
                yield key, judged_by_join(pattern, statements, tables_of)

    def _note(
        self,
        pair: tuple[int, int],
        tables: dict[tuple[object, object], ConstraintTable],
        statements: Statements,
        found: dict[Member, Pairs],
    ) -> None:
        """Add a pair of nodes to the table of each edge whose ends it satisfies."""
        one, other = statements.nodes[pair[0]], statements.nodes[pair[1]]
        value, (_, double, _) = value_of(other), worth(other, lambda tag: -1)
        for ends in ((one, other), (one, _STAR), (_STAR, other), (_STAR, _STAR)):
            table = tables.get(ends)
            for member in () if table is None else table.satisfied(value, double):
                pattern = self._patterns[member[0]]
                edge = pattern.edges[member[1]]
                if isinstance(edge.subject, int) and edge.subject == edge.object and pair[0] != pair[1]:
                    continue
                if _passes(edge.subject, pair[0], pattern, statements) and _passes(
                    edge.object, pair[1], pattern, statements
                ):
                    found.setdefault(member, []).append(pair)


def _passes(end: End, node: int, pattern: Pattern, statements: Statements) -> bool:
    return not isinstance(end, int) or all(statements.holds(one, node) for one in pattern.constraints_on(end))


def _starred(end: End) -> object:
    return _STAR if isinstance(end, int) else end


def _compared(pattern: Pattern, end: End) -> Constraint | None:
    """Return the first comparison of a variable, which places its edge in a table."""
    asked = pattern.constraints_on(end) if isinstance(end, int) else ()
    return next((one for one in asked if one.code in ORDERS or one.code is Code.EQ), None)


def _place(asked: Constraint | None) -> tuple[tuple[str, int] | None, float]:
    """Return the list of bounds of a comparison, and its place there."""
    if asked is None or isinstance(asked.operand, int):
        return None, 0.0
    value = value_of(asked.operand)
    _, double, _ = worth(asked.operand, lambda tag: -1)
    if value is None or math.isnan(double):
        return None, 0.0
    if asked.code is Code.EQ:
        return (value.kind, _EQUAL), double
    return (value.kind, _ABOVE if asked.code in (Code.GT, Code.GE) else _BELOW), double


def _bound(entry: tuple[float, Member]) -> float:
    return entry[0]
