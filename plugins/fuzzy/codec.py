"""The codec of the fuzzy language: bytes that are well-formed *and* mean something in this mission.

`watchdog.vector` decides what is well-formed. Where a mission table is given, a vector must also name an
event class and attributes of it, and tell values that exist.
"""

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary import EventClass, UnknownName
from plugins.fuzzy.vectors import (
    NotificationVector,
    SubscriptionVector,
    decode_notification,
    decode_subscription,
)
from watchdog.vector import HEADER_BYTES, NOTIFICATION, VectorError, kind

Vector = SubscriptionVector | NotificationVector


class FuzzyCodec:
    """Decodes vectors against a mission table, or against their structure alone when there is none."""

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
            for position, (index, byte) in enumerate(zip(parts.attributes, parts.values, strict=True)):
                values = event.attribute_at(index).values
                if values and byte >= len(values):
                    message = f"{event.attribute_at(index).name} has {len(values)} values, not {byte + 1}"
                    raise VectorError(HEADER_BYTES + position, message)
        return parts

    def any(self, vector: bytes) -> Vector:
        """Return the parts of whichever kind of vector this is, or raise `VectorError`."""
        if kind(vector, self.feature_bytes) == NOTIFICATION:
            return self.notification(vector)
        return self.subscription(vector)

    def _check_features(self, parts: Vector, length: int) -> EventClass | None:
        if self.table is None:
            return None
        try:
            event = self.table.event_at(parts.event)
        except UnknownName as error:
            raise VectorError(length - 2 * self.feature_bytes, str(error)) from None
        known = {attribute.index for attribute in event.attributes} | {self.table.age_index}
        unknown = sorted(set(parts.attributes) - known)
        if unknown:
            message = f"{event.name} has no attribute with index {unknown[0]}"
            raise VectorError(length - self.feature_bytes, message)
        return event
