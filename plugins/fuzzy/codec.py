"""The codec of the fuzzy language: checks bodies and notifications against the mission.

`watchdog.vector` checks the structure. With a mission table, bytes must also have a known event class,
attributes and values. Offsets in errors are those of the whole vector.
"""

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.vocabulary import EventClass
from plugins.board_vectors import (
    NotificationVector,
    SubscriptionBody,
    decode_body,
    decode_notification,
)
from plugins.mission_check import event_in_mission, refuse_unknown_values
from watchdog.header import BODY_AT
from watchdog.vector import HEADER_BYTES


class FuzzyCodec:
    """Decodes with a mission table, or structurally only without one."""

    def __init__(self, table: MissionTable | None, feature_bytes: int = 1) -> None:
        self.table = table
        self.feature_bytes = feature_bytes if table is None else table.feature_bytes

    def subscription(self, body: bytes) -> SubscriptionBody:
        """Return the parts of a body, or raise `VectorError`."""
        parts = decode_body(body, self.feature_bytes)
        self._check_features(parts, BODY_AT + len(body))
        return parts

    def notification(self, vector: bytes) -> NotificationVector:
        """Return a notification's parts, or raise `VectorError`."""
        parts = decode_notification(vector, self.feature_bytes)
        event = self._check_features(parts, len(vector))
        if event is not None:
            values = dict(zip(parts.attributes, parts.values, strict=True))
            refuse_unknown_values(event, values, HEADER_BYTES)
        return parts

    def _check_features(self, parts: SubscriptionBody | NotificationVector, length: int) -> EventClass | None:
        if self.table is None:
            return None
        named = set(parts.attributes) - {self.table.age_index}
        event_at, attributes_at = length - 2 * self.feature_bytes, length - self.feature_bytes
        return event_in_mission(
            self.table, parts.event, named, event_at=event_at, attributes_at=attributes_at
        )
