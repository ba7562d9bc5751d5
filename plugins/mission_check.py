"""Checks that well-formed bytes refer to event classes, attributes and values of the mission."""

from collections.abc import Iterable, Mapping

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import EventClass, UnknownName
from watchdog.vector import VectorError


def event_in_mission(
    table: MissionTable, event: int, attributes: Iterable[int], *, event_at: int, attributes_at: int
) -> EventClass:
    """Return an event class that has these attributes. Raise `VectorError` at the offset of the first one
    that the mission does not know.
    """
    try:
        known = table.event_at(event)
    except UnknownName as error:
        raise VectorError(event_at, str(error)) from None
    unknown = sorted(set(attributes) - {attribute.index for attribute in known.attributes})
    if unknown:
        raise VectorError(attributes_at, f"{known.name} has no attribute with index {unknown[0]}")
    return known


def refuse_unknown_values(event: EventClass, values: Mapping[int, int], at: int) -> None:
    """Raise `VectorError` for a byte that is not the position of a listed value. The bytes are consecutive
    from this offset.
    """
    for position, (index, byte) in enumerate(values.items()):
        attribute = event.attribute_at(index)
        if attribute.values and byte >= len(attribute.values):
            message = f"{attribute.name} has {len(attribute.values)} values, not {byte + 1}"
            raise VectorError(at + position, message)
