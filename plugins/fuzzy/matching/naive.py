"""`naive`: the definition (docs/reference/vector-format.md), against which all other algorithms are tested.

Each subscription is evaluated for each notification: the features first, then its degree, computed by the
code that runs on boards. Nothing is cached or skipped.

    >>> matcher = NaiveMatcher(None)
    >>> matcher.add((7, 0), bytes.fromhex("00000064c87f0101"))
    >>> matcher.match(bytes.fromhex("000000000000960101"), event_ms=0, now_ms=0)
    [Match(key=(7, 0), degree_u8=255, detail=b'', revision=None)]
"""

from collections.abc import Iterator, Sequence

from knowledge_manager.mission_table import MissionTable
from plugins.board_vectors import AGGREGATOR_AT, NotificationVector, SubscriptionBody
from plugins.fuzzy.ages import age_code
from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.matching.relational_pairs import relational_pairs
from plugins.language import Match, SubscriptionKey
from plugins.matching_work import MatchingWork
from watchdog.score import satisfies, score


class NaiveMatcher:
    """Evaluates every subscription."""

    def __init__(self, table: MissionTable | None, features: str = "subset", feature_bytes: int = 1) -> None:
        self._codec = FuzzyCodec(table, feature_bytes)
        self._age_index = 8 * self._codec.feature_bytes - 1
        self._exact = features == "exact"
        self._held: dict[SubscriptionKey, tuple[bytes, SubscriptionBody, int]] = {}
        self.work = MatchingWork()

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        parts = self._codec.subscription(body)
        self._held[key] = (body, parts, relational_pairs(parts))

    def remove(self, key: SubscriptionKey) -> None:
        self._held.pop(key, None)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return the matches of this notification, ordered by key. An invalid vector raises `VectorError`."""
        notification = self._codec.notification(vector)
        row = bytearray(8 * self._codec.feature_bytes)
        for index, byte in zip(notification.attributes, notification.values, strict=True):
            row[index] = byte
        row[self._age_index] = age_code(now_ms - event_ms)
        found = []
        self.work.feature_tests += len(self._held)
        for key, (body, parts, pairs) in self._held.items():
            if self._is_candidate(parts, notification):
                n = len(parts.attributes)
                self.work.judged(n, pairs)
                degree = score(body, AGGREGATOR_AT, row, bytes(parts.attributes), n, bytearray(2 * n))
                if satisfies(body[AGGREGATOR_AT], degree):
                    found.append(Match(key, degree))
        return sorted(found, key=lambda match: match.key)

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)

    def _is_candidate(self, subscription: SubscriptionBody, notification: NotificationVector) -> bool:
        if subscription.event != notification.event:
            return False
        wanted = set(subscription.attributes) - {self._age_index}
        present = set(notification.attributes)
        return wanted == present if self._exact else wanted <= present
