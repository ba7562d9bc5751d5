"""Finds the subscription that a composite was made for, which it names."""

from collections.abc import Iterator, Sequence

from knowledge_manager.mission_table import MissionTable
from plugins.composite.composites import decode_composite
from plugins.composite.vectors import decode_body
from plugins.language import Match, SubscriptionKey


class CompositeMatcher:
    """Holds subscriptions by their keys; the kind of a composite is the detail of a match."""

    def __init__(self, table: MissionTable) -> None:
        self._table = table
        self._held: set[SubscriptionKey] = set()

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Hold this subscription; a bad body raises `VectorError` and changes nothing."""
        decode_body(body, self._table.feature_bytes, self._table)
        self._held.add(key)

    def remove(self, key: SubscriptionKey) -> None:
        """Forget it; an unknown key is no error."""
        self._held.discard(key)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return the subscription of a composite, where it is held; a bad vector raises `VectorError`."""
        found = decode_composite(vector)
        key = found.subscriber, found.id
        if key not in self._held:
            return []
        return [Match(key, 17 * found.degree, bytes((found.kind,)), found.revision)]

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        """Yield the matches of each composite in their order."""
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)
