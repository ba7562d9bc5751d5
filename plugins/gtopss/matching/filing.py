"""Choice of the access key of a concept: the one with the fewest expected candidates.

Expected candidates are the rate at which publications hit the key × the share of observed values that satisfy
the entry. Before any publication, constants are assumed as rare as in patterns, and values distributed like
bounds.
"""

import bisect
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from knowledge_manager.graphs.terms import Iri
from plugins.gtopss.matching.numbered_terms import TermNumbers
from plugins.gtopss.pattern import ORDERS, Code, Constraint, Edge, Pattern
from plugins.kernels.graphs.decode import NO_GROUP
from plugins.kernels.graphs.index import (
    ANY,
    AT_LEAST,
    AT_MOST,
    CLASS_OBJECT,
    CLASS_SUBJECT,
    CONSTANT,
    EQUAL,
    HALF_OBJECT,
    HALF_SUBJECT,
    PROPERTY_KEY,
    ValueArrays,
)


class AccessKey(NamedTuple):
    """The parts of a key, and the bound that orders entries with a comparison."""

    kind: int
    a: int
    b: int
    c: int
    bound: float = 0.0


@dataclass(slots=True)
class Experience:
    """Statistics of publications so far, by the numbers of constants, including properties."""

    publications: float = 0.0
    as_subject: dict[int, float] = field(default_factory=dict)
    as_object: dict[int, float] = field(default_factory=dict)
    as_class: dict[int, float] = field(default_factory=dict)
    of_property: dict[int, float] = field(default_factory=dict)
    values: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    """(property, group) → rising values."""


FEWEST = 8
"""Publications before which statistics are ignored."""


class Filing:
    def __init__(
        self,
        terms: TermNumbers,
        values: ValueArrays,
        patterns: list[Pattern],
        seen: Experience,
    ) -> None:
        self._terms = terms
        self._groups = values.kinds[:, 0].tolist()
        self._doubles = values.doubles.tolist()
        self._seen = seen
        self._is_new = seen.publications < FEWEST
        self._values = seen.values
        if self._is_new:
            self._distinct = self._ends_of(patterns)
            self._values = self._bounds_of(patterns)

    def _ends_of(self, patterns: list[Pattern]) -> dict[tuple[int, int], int]:
        """Return the number of distinct constants of patterns at an end of a property."""
        found: dict[tuple[int, int], set[int]] = {}
        for pattern in patterns:
            for edge in pattern.edges:
                named = self._terms.number(edge.property)
                for side, end in enumerate((edge.subject, edge.object)):
                    if not isinstance(end, int):
                        found.setdefault((named, side), set()).add(self._terms.number(end))
        return {key: len(some) for key, some in found.items()}

    def _bounds_of(self, patterns: list[Pattern]) -> dict[tuple[int, int], list[float]]:
        found: dict[tuple[int, int], list[float]] = {}
        for pattern in patterns:
            for edge in pattern.edges:
                if isinstance(edge.object, int):
                    for one in pattern.constraints_on(edge.object):
                        if one.code in ORDERS or one.code is Code.EQ:
                            group, value = self._worth(one)
                            found.setdefault((self._terms.number(edge.property), group), []).append(value)
        return {key: sorted(some) for key, some in found.items()}

    def _worth(self, one: Constraint) -> tuple[int, float]:
        assert not isinstance(one.operand, int), "only constants are worth something"
        number = self._terms.number(one.operand)
        return self._groups[number], self._doubles[number]

    def key_of(self, pattern: Pattern) -> AccessKey:
        return min(
            (found for edge in pattern.edges for found in self._keys_of(edge, pattern)),
            key=lambda one: one[0],
        )[1]

    def _keys_of(self, edge: Edge, pattern: Pattern) -> Iterator[tuple[float, AccessKey]]:
        """Yield the keys of an edge with their expected candidates."""
        dense, named = self._terms.property(edge.property), self._terms.number(edge.property)
        often = self._rate_of_property(named)
        subject = ANY if isinstance(edge.subject, int) else self._terms.number(edge.subject)
        object_ = ANY if isinstance(edge.object, int) else self._terms.number(edge.object)
        if subject != ANY and object_ != ANY:
            rate = min(self._rate(named, 0, subject), self._rate(named, 1, object_), often) / 2
            yield rate, AccessKey(CONSTANT, dense, subject, object_)
            return
        yield often, AccessKey(PROPERTY_KEY, dense, ANY, ANY)
        if subject != ANY:
            often = min(often, self._rate(named, 0, subject))
            yield often, AccessKey(HALF_SUBJECT, dense, subject, ANY)
        if object_ != ANY:
            yield min(often, self._rate(named, 1, object_)), AccessKey(HALF_OBJECT, dense, object_, ANY)
        if isinstance(edge.object, int):
            for one in pattern.constraints_on(edge.object):
                yield from self._by_object(one, edge.property, subject, often)
        if isinstance(edge.subject, int):
            for one in pattern.constraints_on(edge.subject):
                if one.code is Code.IS_A:
                    yield self._by_class(CLASS_SUBJECT, dense, one, often)

    def _by_object(
        self, one: Constraint, property_: Iri, subject: int, often: float
    ) -> Iterator[tuple[float, AccessKey]]:
        """Yield the keys that a constraint on the object allows."""
        dense, named = self._terms.property(property_), self._terms.number(property_)
        if one.code is Code.IS_A:
            yield self._by_class(CLASS_OBJECT, dense, one, often)
        elif one.code in ORDERS or one.code is Code.EQ:
            assert not isinstance(one.operand, int), "only constants are compared"
            group, value = self._worth(one)
            if group <= NO_GROUP or math.isnan(value):
                if one.code is Code.EQ:
                    number = self._terms.number(one.operand)
                    yield min(often, self._rate(named, 1, number)), AccessKey(HALF_OBJECT, dense, number, ANY)
                return
            kind = EQUAL if one.code is Code.EQ else AT_LEAST if one.code in (Code.GT, Code.GE) else AT_MOST
            share = self._share(kind, named, group, value)
            yield often * share, AccessKey(kind, dense, subject, group, value)

    def _by_class(self, kind: int, dense: int, one: Constraint, often: float) -> tuple[float, AccessKey]:
        assert not isinstance(one.operand, int), "a class is a constant"
        number = self._terms.number(one.operand)
        rate = 0.5 * often
        if not self._is_new:
            rate = min(often, self._seen.as_class.get(number, 0.0) / self._seen.publications)
        return rate, AccessKey(kind, dense, number, ANY)

    def _share(self, kind: int, named: int, group: int, value: float) -> float:
        """Return the share of values that an entry lets through; more than 0 even if none was observed."""
        values = self._values.get((named, group), [])
        if not values:
            return 0.5
        below, behind = bisect.bisect_left(values, value), bisect.bisect_right(values, value)
        size = len(values)
        let = {AT_LEAST: size - below, AT_MOST: behind, EQUAL: behind - below}[kind]
        return (let + 0.5) / (size + 1)

    def _rate_of_property(self, named: int) -> float:
        if self._is_new:
            return 1.0
        return self._seen.of_property.get(named, 0.0) / self._seen.publications

    def _rate(self, named: int, side: int, number: int) -> float:
        """Return the rate of publications with a constant at an end."""
        if self._is_new:
            return 1.0 / (1 + self._distinct.get((named, side), 1))
        seen = self._seen.as_subject if side == 0 else self._seen.as_object
        return seen.get(number, 0.0) / self._seen.publications
