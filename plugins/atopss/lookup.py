"""What a subscription requests: attributes of the publishers that can serve it, and values."""

from typing import Final

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.shapes.shapes import ANYTHING, Shape
from plugins.atopss.terms import attribute_sets
from plugins.language import RequestedValue, Requirement
from plugins.lookup import MeasuresAny
from watchdog.normalise import normal_byte

MOST_ALTERNATIVES: Final = 64
"""With more alternatives, any publisher of any of the attributes is used."""


class AtopssLookUp:
    """A publisher serves a subscription if it measures attributes that can satisfy it."""

    def __init__(self, table: MissionTable) -> None:
        self._codec = AtopssCodec(table)

    def question(self, body: bytes) -> MeasuresAny:
        """Return the alternatives. An invalid body raises `VectorError`."""
        wanted = self._codec.subscription(body)
        sets = attribute_sets(wanted, MOST_ALTERNATIVES)
        return MeasuresAny(tuple(Requirement(wanted.event, attributes) for attributes in sets))


def requested_values(table: MissionTable, body: bytes) -> list[RequestedValue]:
    """Return the middle of the core of each positive predicate, as a byte; a complement has no middle."""
    wanted = AtopssCodec(table).subscription(body)
    attributes = {one.index: one for one in table.event_at(wanted.event).attributes}
    return [
        (wanted.event, leaf.attribute, _middle(leaf.shape, attributes[leaf.attribute]))
        for leaf in wanted.predicates
        if not leaf.complement and leaf.shape != ANYTHING
    ]


def _middle(shape: Shape, attribute: Attribute) -> int:
    """Return the byte of the middle of a core, within the domain."""
    if attribute.type == "nominal":
        return min(max(shape.m2, 0), len(attribute.values) - 1)
    lo, hi = attribute.lo_scaled, attribute.hi_scaled
    low, high = max(lo, lo + shape.m2), min(hi, lo + shape.m3)
    return normal_byte((low + high) // 2, lo, hi, attribute.inner)
