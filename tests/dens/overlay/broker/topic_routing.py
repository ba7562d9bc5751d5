"""What brokers ask of the language of topics: a body is a topic and a least value, an advertisement too."""

from collections.abc import Callable

from dens.interfaces import EntryTable
from emulation.fault_injection.topics import TopicError, topic_covers
from plugins.atopss.relations.merging_table import MergingTable
from plugins.routing import CoveringTable, same


class TopicRouting:
    """Everything is exact here, so its tables are what they should be."""

    def __init__(self, table: Callable[[], EntryTable] = lambda: CoveringTable(topic_covers)) -> None:
        self._table = table

    def includes(self, one: bytes, other: bytes) -> bool:
        if len(one) != 2 or len(other) != 2:
            raise TopicError("an advertisement is a topic and a least value", len(one))
        return topic_covers(one, other)

    def advertises(self, advertisement: bytes, wanted: bytes) -> bool:
        return advertisement[0] == wanted[0]

    def admits(self, advertisement: bytes, vector: bytes) -> bool:
        return advertisement[0] == vector[0] and vector[1] >= advertisement[1]

    def table(self) -> EntryTable:
        return self._table()


class Alike:
    """Least values of one topic that lie no further apart than 60 are merged."""

    def covers(self, one: bytes, other: bytes) -> bool:
        return topic_covers(one, other)

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        return bytes((one[0], min(one[1], other[1]))) if one[0] == other[0] else None

    def names(self, body: bytes) -> tuple[int, frozenset[int]]:
        return body[0], frozenset({0})

    def similarity(
        self, one: bytes, other: bytes, least: tuple[float, int, int]
    ) -> tuple[float, int, int] | None:
        found = (1 - abs(one[1] - other[1]) / 255, 255, 0)
        return found if one[0] == other[0] and found[0] >= least[0] else None


TABLES: dict[str, Callable[[], EntryTable]] = {
    "equal": lambda: CoveringTable(same),
    "covering": lambda: CoveringTable(topic_covers),
    "merging": lambda: MergingTable(Alike(), overlap=1 - 60 / 255),
}
