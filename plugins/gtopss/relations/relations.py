"""Relations of patterns."""

from knowledge_manager.mission_table import MissionTable
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.relations.containment import contains
from plugins.gtopss.relations.forest import GraphForest
from plugins.gtopss.relations.mergers import merged
from plugins.gtopss.vectors import decode_pattern, encode_pattern


class GraphRelations:
    def __init__(self, table: MissionTable) -> None:
        self._table = table

    def covers(self, one: bytes, other: bytes) -> bool:
        """Return whether one pattern certainly contains the other."""
        return contains(self._read(one), self._read(other), self._table.taxonomy)

    def intersects(self, one: bytes, other: bytes) -> bool:
        """Return True: a publication can always contain more statements."""
        self._read(one)
        self._read(other)
        return True

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        """Return the common part of both, or None without a common edge."""
        found = merged(self._read(one), self._read(other), self._table.taxonomy)
        return None if found is None else encode_pattern(found, self._table.dictionary)

    def forest(self) -> GraphForest:
        return GraphForest(self._table)

    def _read(self, body: bytes) -> Pattern:
        return decode_pattern(body, self._table.dictionary)
