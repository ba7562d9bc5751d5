"""Requested values of a subscription, one per attribute: the middle of its core."""

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.shapes.shapes import ANYTHING, Shape
from plugins.language import RequestedValue
from watchdog.normalise import normal_byte


def requested_values(table: MissionTable, body: bytes) -> list[RequestedValue]:
    """Return one byte per positive predicate; a complement has no middle."""
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
