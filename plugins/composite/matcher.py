"""Matches a composite with the subscription that it names."""

from collections.abc import Iterator, Sequence

from knowledge_manager.mission_table import MissionTable
from plugins.composite.composites import decode_composite
from plugins.composite.vectors import decode_body
from plugins.language import Match, SubscriptionKey


class CompositeMatcher:
    """Holds subscriptions by key. The detail of a match is the kind of the composite."""

    def __init__(self, table: MissionTable) -> None:
        self._table = table
        self._held: set[SubscriptionKey] = set()

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        decode_body(body, self._table.feature_bytes, self._table)
        self._held.add(key)

    def remove(self, key: SubscriptionKey) -> None:
        self._held.discard(key)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return the subscription of a composite if it is held. An invalid vector raises `VectorError`."""
        found = decode_composite(vector)
        key = found.subscriber, found.id
        if key not in self._held:
            return []
        return [Match(key, 17 * found.degree, bytes((found.kind,)), found.revision)]

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)
