"""Requested values of a subscription, one per attribute: the middle of its core."""

from typing import Final

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.codec import FuzzyCodec
from plugins.language import RequestedValue

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
