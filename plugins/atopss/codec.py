"""Bytes that are well-formed *and* mean something in this mission.

Where a mission table is given, a vector must also name an event class and attributes of it.
"""

from collections.abc import Iterable

from knowledge_manager.event_class import EventClass
from knowledge_manager.mission_table import MissionTable
from plugins.atopss.notifications import Notification
from plugins.atopss.subscriptions import Subscription
from plugins.atopss.vectors import decode_notification, decode_subscription
from plugins.mission_check import event_in_mission
from watchdog.header import BODY_AT

EVENT_AT = 6
"""Where the event stands, in vectors of both kinds."""


class AtopssCodec:
    """Decodes against a mission table, or against the structure alone when there is none."""

    __slots__ = ("table",)

    def __init__(self, table: MissionTable | None) -> None:
        self.table = table

    def subscription(self, body: bytes) -> Subscription:
        """Return what a body says, or raise `VectorError`."""
        wanted = decode_subscription(body)
        self._check(wanted.event, wanted.attributes, BODY_AT + len(body))
        return wanted

    def notification(self, vector: bytes) -> Notification:
        """Return what a notification tells, or raise `VectorError`."""
        told = decode_notification(vector)
        self._check(told.event, told.values, len(vector))
        return told

    def event(self, index: int) -> EventClass | None:
        """Return an event class; None where there is no table."""
        return None if self.table is None else self.table.event_at(index)

    def lengths(self, event: int) -> dict[int, int]:
        """Return how long the axes of an event are, by attribute; nothing where there is no table."""
        known = self.event(event)
        attributes = () if known is None else known.attributes
        return {attribute.index: attribute.hi_scaled - attribute.lo_scaled for attribute in attributes}

    def _check(self, event: int, attributes: Iterable[int], length: int) -> None:
        if self.table is not None:
            event_in_mission(self.table, event, attributes, event_at=EVENT_AT, attributes_at=length)
