"""How two patterns relate, and what serves in place of both."""

from knowledge_manager.mission_table import MissionTable
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.relations.containment import contains
from plugins.gtopss.relations.forest import GraphForest
from plugins.gtopss.relations.mergers import merged
from plugins.gtopss.vectors import decode_pattern, encode_pattern


class GraphRelations:
    """Relations of bodies."""

    def __init__(self, table: MissionTable) -> None:
        self._table = table

    def covers(self, one: bytes, other: bytes) -> bool:
        """Say whether one pattern contains the other, for sure."""
        return contains(self._read(one), self._read(other), self._table.taxonomy)

    def intersects(self, one: bytes, other: bytes) -> bool:
        """Say that something may satisfy both: a publication may always state more."""
        self._read(one)
        self._read(other)
        return True

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        """Return what both have in common; None where that is no edge."""
        found = merged(self._read(one), self._read(other), self._table.taxonomy)
        return None if found is None else encode_pattern(found, self._table.dictionary)

    def forest(self) -> GraphForest:
        """Return an empty forest of containments."""
        return GraphForest(self._table)

    def _read(self, body: bytes) -> Pattern:
        return decode_pattern(body, self._table.dictionary)
