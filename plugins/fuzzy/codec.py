"""The codec of the fuzzy language: checks vectors against the mission.

`watchdog.vector` checks the structure. With a mission table, a vector must also have a known event class,
attributes and values.
"""

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.vocabulary import EventClass
from plugins.fuzzy.vectors import (
    NotificationVector,
    SubscriptionVector,
    decode_notification,
    decode_subscription,
)
from plugins.mission_check import event_in_mission, refuse_unknown_values
from watchdog.vector import HEADER_BYTES, NOTIFICATION, kind

Vector = SubscriptionVector | NotificationVector


class FuzzyCodec:
    """Decodes vectors with a mission table, or structurally only without one."""

    def __init__(self, table: MissionTable | None, feature_bytes: int = 1) -> None:
        self.table = table
        self.feature_bytes = feature_bytes if table is None else table.feature_bytes

    def subscription(self, vector: bytes) -> SubscriptionVector:
        """Return a subscription's parts, or raise `VectorError`."""
        parts = decode_subscription(vector, self.feature_bytes)
        self._check_features(parts, len(vector))
        return parts

    def notification(self, vector: bytes) -> NotificationVector:
        """Return a notification's parts, or raise `VectorError`."""
        parts = decode_notification(vector, self.feature_bytes)
        event = self._check_features(parts, len(vector))
        if event is not None:
            values = dict(zip(parts.attributes, parts.values, strict=True))
            refuse_unknown_values(event, values, HEADER_BYTES)
        return parts

    def any(self, vector: bytes) -> Vector:
        """Return the parts of a vector of either kind, or raise `VectorError`."""
        if kind(vector, self.feature_bytes) == NOTIFICATION:
            return self.notification(vector)
        return self.subscription(vector)

    def _check_features(self, parts: Vector, length: int) -> EventClass | None:
        if self.table is None:
            return None
        named = set(parts.attributes) - {self.table.age_index}
        event_at, attributes_at = length - 2 * self.feature_bytes, length - self.feature_bytes
        return event_in_mission(
            self.table, parts.event, named, event_at=event_at, attributes_at=attributes_at
        )
