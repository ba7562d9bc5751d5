"""Checks bytes against the mission.

With a mission table, a vector must also have a known event class and attributes, and nothing outside an
attribute's domain is possible: values of a notification are clipped to their domains.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import EventClass
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Subscription
from plugins.atopss.vectors import decode_notification, decode_subscription
from plugins.mission_check import event_in_mission
from watchdog.header import BODY_AT

EVENT_AT = 6
"""Offset of the event, in vectors of both kinds."""


class AtopssCodec:
    """Decodes with a mission table, or structurally only without one."""

    __slots__ = ("_lengths", "table")

    def __init__(self, table: MissionTable | None) -> None:
        self.table = table
        self._lengths: dict[int, dict[int, int]] = {}

    def subscription(self, body: bytes) -> Subscription:
        wanted = decode_subscription(body)
        self._check(wanted.event, wanted.attributes, BODY_AT + len(body))
        return wanted

    def notification(self, vector: bytes) -> Notification:
        """Return a notification with its values within their domains, or raise `VectorError`."""
        event = self.written_notification(vector)
        return replace(event, values=self.known(event.event, event.values))

    def written_notification(self, vector: bytes) -> Notification:
        """Return a notification as encoded, or raise `VectorError`."""
        event = decode_notification(vector)
        self._check(event.event, event.values, len(vector))
        return event

    def known(self, event: int, values: dict[int, Shape]) -> dict[int, Shape]:
        """Return values within the domains of their attributes; unchanged without a table."""
        if self.table is None:
            return values
        lengths = self.lengths(event)
        return {attribute: shape.within(lengths[attribute]) for attribute, shape in values.items()}

    def event(self, index: int) -> EventClass | None:
        """Return an event class; None without a table."""
        return None if self.table is None else self.table.event_at(index)

    def lengths(self, event: int) -> Mapping[int, int]:
        """Return the lengths of the axes of an event, by attribute; empty without a table."""
        found = self._lengths.get(event)
        if found is None:
            known = self.event(event)
            attributes = () if known is None else known.attributes
            found = {attribute.index: attribute.hi_scaled - attribute.lo_scaled for attribute in attributes}
            self._lengths[event] = found
        return found

    def _check(self, event: int, attributes: Iterable[int], length: int) -> None:
        if self.table is not None:
            event_in_mission(self.table, event, attributes, event_at=EVENT_AT, attributes_at=length)
