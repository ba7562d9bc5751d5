"""Which publishers serve a subscription, and which values it requests."""

from typing import Final

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.codec import FuzzyCodec
from plugins.language import RequestedValue, Requirement
from plugins.lookup import MeasuresAny


class FuzzyLookUp:
    """A publisher serves a subscription if it measures every constrained attribute; age needs no sensor."""

    def __init__(self, table: MissionTable) -> None:
        self._codec = FuzzyCodec(table)
        self._age_index = table.age_index

    def question(self, body: bytes) -> MeasuresAny:
        """Return the only alternative. An invalid body raises `VectorError`."""
        parts = self._codec.subscription(body)
        wanted = Requirement(parts.event, frozenset(parts.attributes) - {self._age_index})
        return MeasuresAny((wanted,))


_COMPLEMENT: Final = 128
_EVERYTHING: Final = (0, 255)


def requested_values(table: MissionTable, body: bytes) -> list[RequestedValue]:
    """Return one byte per attribute with a positive constraint; a complemented one has no middle."""
    parts = FuzzyCodec(table).subscription(body)
    return [
        (parts.event, attribute, (v + V) // 2)
        for attribute, (v, V, g) in zip(parts.attributes, parts.constraints, strict=True)
        if attribute != table.age_index and not g & _COMPLEMENT and (v, V) != _EVERYTHING
    ]
