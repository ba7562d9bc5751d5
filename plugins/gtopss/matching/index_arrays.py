"""The arrays of an index: terms and values, the taxonomy's part, concepts, and access keys."""

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.terms import Iri
from plugins.gtopss.matching.filing import AccessKey, Experience, Filing
from plugins.gtopss.matching.numbered_terms import TermNumbers
from plugins.gtopss.pattern import Code, Edge, End, Pattern
from plugins.gtopss.rings import MOST_CUTS, cut_variables
from plugins.kernels.compiled import compiled
from plugins.kernels.graphs.index import (
    BELOW,
    OVER,
    OWN_BELOW,
    OWN_OVER,
    STATED,
    ClassArrays,
    ConceptArrays,
    KeyArrays,
    TermArrays,
    ValueArrays,
    key_table,
    mix_all,
    shape,
)

_KINDS: Final = (BELOW, OVER, OWN_BELOW, OWN_OVER, STATED)


class IndexArrays(NamedTuple):
    """All arrays of an index."""

    terms: TermArrays
    values: ValueArrays
    classes: ClassArrays
    concepts: ConceptArrays
    keys: KeyArrays


PARTS: Final[dict[str, Any]] = {
    "terms": TermArrays,
    "values": ValueArrays,
    "classes": ClassArrays,
    "concepts": ConceptArrays,
    "keys": KeyArrays,
}
"""By their names in storage."""


def built(
    patterns: list[Pattern],
    terms: TermNumbers,
    taxonomy: Taxonomy,
    seen_by: Callable[[TermNumbers], Experience] | None,
) -> IndexArrays:
    """Return the arrays of distinct patterns; `seen_by` returns the statistics so far."""
    concepts = _concepts(patterns, terms)
    arrays, values = terms.arrays(), terms.values()
    filing = Filing(terms, values, patterns, Experience() if seen_by is None else seen_by(terms))
    keys = _keys([filing.key_of(pattern) for pattern in patterns])
    return IndexArrays(arrays, values, _classes(patterns, terms, taxonomy), concepts, keys)


def _concepts(patterns: list[Pattern], terms: TermNumbers) -> ConceptArrays:
    def end(one: End) -> int:
        return -1 - one if isinstance(one, int) else terms.number(one)

    edges = [
        (terms.property(edge.property), end(edge.subject), end(edge.object))
        for pattern in patterns
        for edge in sorted(pattern.edges, key=_has_variables)
    ]
    asked = [
        (
            one.variable,
            int(one.code),
            one.operand if isinstance(one.operand, int) else terms.number(one.operand),
        )
        for pattern in patterns
        for one in pattern.constraints
    ]
    heads = np.zeros((len(patterns) + 1, 3), np.int32)
    heads[:, 0] = _starts(len(pattern.edges) for pattern in patterns)
    heads[:, 1] = _starts(len(pattern.constraints) for pattern in patterns)
    for number, pattern in enumerate(patterns):
        first, second = (*cut_variables(pattern), -1, -1)[:MOST_CUTS]
        heads[number, 2] = shape(pattern.variables, first, second)
    return ConceptArrays(
        heads,
        np.array(edges, np.int32).reshape(-1, 3),
        np.array(asked, np.int32).reshape(-1, 3),
        np.ones(len(patterns), np.uint8),
    )


def _has_variables(edge: Edge) -> int:
    """Sort key of edges for verification: those that fail soonest first."""
    return len(edge.variables())


def _starts(lengths: Iterable[int]) -> npt.NDArray[np.int32]:
    sizes = list(lengths)
    starts = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=starts[1:])
    return starts


def _keys(chosen: list[AccessKey]) -> KeyArrays:
    rows = np.array([one[:4] for one in chosen], np.int32).reshape(-1, 4)
    mixed = np.zeros(len(chosen), np.uint64)
    columns = [np.ascontiguousarray(rows[:, column]) for column in range(4)]
    compiled(mix_all)(columns[0].astype(np.uint8), columns[1], columns[2], columns[3], mixed)
    bounds = np.array([one.bound for one in chosen], np.float64)
    order = np.lexsort((bounds, mixed))
    known, first = np.unique(mixed[order], return_index=True)
    slots = 1 << max(4, (2 * len(known)).bit_length())
    slot_keys, slot_entries = np.zeros(slots, np.uint64), np.zeros(slots, np.int32)
    compiled(key_table)(known, slot_keys, slot_entries)
    starts = np.append(first, len(chosen)).astype(np.int32)
    return KeyArrays(slot_keys, slot_entries, starts, order.astype(np.int32), bounds[order])


def _classes(patterns: list[Pattern], terms: TermNumbers, taxonomy: Taxonomy) -> ClassArrays:
    asked: dict[Code, set[str]] = {Code.IS_A: set(), Code.DIRECT: set(), Code.ABOVE: set()}
    for pattern in patterns:
        for one in pattern.constraints:
            if one.code in asked and isinstance(one.operand, Iri):
                asked[one.code].add(one.operand.text)

    def number(text: str) -> int:
        return terms.known(Iri(text))

    lower: dict[str, list[int]] = {}
    for operand in asked[Code.ABOVE]:
        for ancestor in taxonomy.ancestors(operand):
            lower.setdefault(ancestor, []).append(number(operand))

    def below(text: str) -> list[int]:
        return [number(one) for one in taxonomy.ancestors(text) if one in asked[Code.IS_A]]

    lists: dict[tuple[int, int], list[int]] = {}
    for text in dict.fromkeys((*taxonomy.parents, *taxonomy.types)):
        member, types = number(text), taxonomy.types_of(text)
        lists[BELOW, member], lists[OVER, member] = below(text), lower.get(text, [])
        lists[OWN_BELOW, member] = [*below(text), *(one for of in types for one in below(of))]
        lists[OWN_OVER, member] = [*lower.get(text, ()), *(one for of in types for one in lower.get(of, ()))]
        lists[STATED, member] = [number(of) for of in types if of in asked[Code.DIRECT]]
    starts = np.zeros((len(_KINDS), terms.members + 1), np.int32)
    listed: list[int] = []
    for kind in _KINDS:
        for member in range(terms.members):
            starts[kind, member] = len(listed)
            listed += sorted(set(lists.get((kind, member), ())))
        starts[kind, terms.members] = len(listed)
    return ClassArrays(starts, np.array(listed, np.int32), terms.members, terms.type_property)
