"""Fixed parts of a pattern as texts: of an edge its property and constant ends, of two edges that share a
node their properties and ends there. A container of a pattern has only these and wider ones.

Texts are interned: equal ones are one object, their hash is computed once, and unused ones are freed.
"""

import sys
from collections.abc import Iterable, Iterator
from itertools import combinations

from knowledge_manager.graphs.terms import Iri, written
from plugins.gtopss.pattern import Edge, End, Pattern

Key = str
"""Variables are written as `?`."""


def own_keys(pattern: Pattern) -> frozenset[Key]:
    """Return the keys of all edges, and of those joined by a variable without a constant end: a constant is
    more selective than a join.
    """
    found = [f"{edge.property.text} {_fixed(edge.subject)} {_fixed(edge.object)}" for edge in pattern.edges]
    found += _joins(edge for edge in pattern.edges if len(edge.variables()) == 2)
    return frozenset(map(sys.intern, found))


def wider_keys(pattern: Pattern) -> frozenset[Key]:
    """Return the keys that containers of a pattern can have."""
    found: list[Key] = []
    for edge in pattern.edges:
        named, one, other = edge.property.text, _fixed(edge.subject), _fixed(edge.object)
        found += (f"{named} {one} {other}", f"{named} {one} ?", f"{named} ? {other}", f"{named} ? ?")
    found += _joins(pattern.edges)
    return frozenset(map(sys.intern, found))


def _joins(edges: Iterable[Edge]) -> Iterator[Key]:
    """Yield a key for every two ends, of different properties or sides, that are one node."""
    met: dict[End, dict[str, None]] = {}
    for edge in edges:
        met.setdefault(edge.subject, {})[f"{edge.property.text}>"] = None
        met.setdefault(edge.object, {})[f"{edge.property.text}<"] = None
    for ends in met.values():
        if len(ends) > 1:
            for one, other in combinations(sorted(ends), 2):
                yield f"{one} {other}"


def _fixed(end: End) -> str:
    if isinstance(end, Iri):
        return end.text
    return "?" if isinstance(end, int) else written(end)
