"""Filter at the source: complete publications, rather too many than too few.

A publication passes if every edge of some pattern matches a statement by itself, without a join. A signature
is tested first: 64 bits of properties and constant ends, of which a publication must have all those of the
pattern. Classes are evaluated by the mission's taxonomy only; a source with another one lets everything pass.
"""

import zlib
from dataclasses import dataclass

from knowledge_manager.graphs.terms import Graph, Term, written
from knowledge_manager.mission_table import MissionTable
from plugins.gtopss.match import FULLY
from plugins.gtopss.pattern import KINSHIPS, Constraint, Edge, End, Pattern
from plugins.gtopss.statements import Statements
from plugins.gtopss.vectors import decode_pattern, decode_publication
from plugins.language import Release, SubscriptionKey
from watchdog.reading import Reading


@dataclass(frozen=True, slots=True)
class _Held:
    pattern: Pattern
    signature: int
    tests: tuple[tuple[Constraint, ...], ...]
    """Constraints on the node of each variable alone."""


class GraphSourceFilter:
    """Releases nothing for readings; of documents, those that a held pattern may match."""

    def __init__(self, table: MissionTable, mission_taxonomy: str | None = None) -> None:
        """`mission_taxonomy` is the digest of the mission's taxonomy if it differs from that of the table."""
        self._dictionary = table.dictionary
        self._taxonomy = table.taxonomy
        self._knows_classes = mission_taxonomy in (None, table.taxonomy.digest) and bool(
            table.taxonomy.parents
        )
        self._held: dict[SubscriptionKey, _Held] = {}

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        pattern = decode_pattern(body, self._dictionary)
        tests = tuple(
            tuple(
                one
                for one in pattern.constraints_on(variable)
                if self._knows_classes or one.code not in KINSHIPS
            )
            for variable in range(pattern.variables)
        )
        self._held[key] = _Held(pattern, _signature_of_pattern(pattern), tests)

    def remove(self, key: SubscriptionKey) -> None:
        self._held.pop(key, None)

    def feed(self, reading: Reading) -> list[Release]:
        """Return nothing: a reading is not a graph."""
        return []

    def offer(self, document: bytes) -> list[Release]:
        """Return the complete publication, once, if a pattern may match it."""
        told = decode_publication(document, self._dictionary)
        signature = _signature(told.graph)
        statements: Statements | None = None
        for held in self._held.values():
            if held.signature & ~signature:
                continue
            statements = statements or Statements.of(told, self._taxonomy)
            if all(_finds(edge, held.tests, statements) for edge in held.pattern.edges):
                return [Release(document, FULLY, told.valid)]
        return []


def _finds(edge: Edge, tests: tuple[tuple[Constraint, ...], ...], statements: Statements) -> bool:
    """Return whether some statement has this property and ends that pass by themselves."""

    def passes(end: End, node: int) -> bool:
        if isinstance(end, int):
            return all(statements.holds(one, node) for one in tests[end])
        return statements.nodes[node] == end

    return any(
        passes(edge.subject, one) and passes(edge.object, other)
        for one, other in statements.by_property.get(edge.property, ())
    )


def _bit(term: Term) -> int:
    return 1 << (zlib.crc32(written(term).encode()) & 63)


def _signature_of_pattern(pattern: Pattern) -> int:
    found = 0
    for edge in pattern.edges:
        for one in edge:
            found |= 0 if isinstance(one, int) else _bit(one)
    return found


def _signature(graph: Graph) -> int:
    found = 0
    for term in {term for triple in graph for term in triple}:
        found |= _bit(term)
    return found
