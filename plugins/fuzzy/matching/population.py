"""Common base of the papers' matching algorithms: subscriptions by key, and the frame of one match.

An algorithm is a `Population` that updates its own structure in `entered` and `left` and searches it in
`found`. Everything common is here: checking of vectors, the feature condition, the age of an event, and the
order of the matches.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from knowledge_manager.mission_table import MissionTable
from plugins.board_vectors import AGGREGATOR_AT, Triple
from plugins.fuzzy import FEATURE_CONDITIONS
from plugins.fuzzy.ages import age_code
from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.matching.relational_pairs import relational_pairs
from plugins.language import Match, NotServed, SubscriptionKey
from plugins.matching_work import MatchingWork
from watchdog.score import satisfies, score

_BLOCK_AT: Final = AGGREGATOR_AT + 1


class AggregatorNotServed(NotServed):
    """The algorithm does not support this aggregator; the subscription was not added."""


@dataclass(frozen=True, slots=True)
class Held:
    """A subscription in matching form. `needs` is its attribute feature without the age bit, `pairs` the
    pairs of its break-down.
    """

    key: SubscriptionKey
    body: bytes
    event: int
    needs: int
    attributes: bytes
    constraints: tuple[Triple, ...]
    pairs: int

    @property
    def aggregator(self) -> int:
        return self.body[AGGREGATOR_AT] & 15

    @property
    def block(self) -> bytes:
        """Return the block after its length byte; only for an aggregator that has one."""
        return self.body[_BLOCK_AT + 1 : _BLOCK_AT + 1 + self.body[_BLOCK_AT]]

    def is_satisfied(self, degree_u8: int) -> bool:
        return satisfies(self.body[AGGREGATOR_AT], degree_u8)


@dataclass(frozen=True, slots=True)
class NotificationRow:
    """A notification in matching form: `row` has one byte per attribute index, the age last."""

    event: int
    feature: int
    row: bytes


class NotificationReader:
    """Decodes notification vectors for matching. The age is computed only here."""

    def __init__(self, codec: FuzzyCodec) -> None:
        self._codec = codec

    def read(self, vector: bytes, event_ms: int, now_ms: int) -> NotificationRow:
        """Return a decoded notification. An invalid vector raises `VectorError`."""
        notification = self._codec.notification(vector)
        row = bytearray(8 * self._codec.feature_bytes)
        feature = 0
        for index, byte in zip(notification.attributes, notification.values, strict=True):
            row[index] = byte
            feature |= 1 << index
        row[-1] = age_code(now_ms - event_ms)
        return NotificationRow(notification.event, feature, bytes(row))


class Population(ABC):
    """Subscriptions by key, and one algorithm that finds those that a notification satisfies."""

    def __init__(self, table: MissionTable | None, features: str = "subset", feature_bytes: int = 1) -> None:
        if features not in FEATURE_CONDITIONS:
            raise ValueError(f'unknown feature condition "{features}" (expected one of {FEATURE_CONDITIONS})')
        self._codec = FuzzyCodec(table, feature_bytes)
        self._reader = NotificationReader(self._codec)
        self._age_bit = 1 << 8 * self._codec.feature_bytes - 1
        self.exact = features == "exact"
        self._held: dict[SubscriptionKey, Held] = {}
        self.work = MatchingWork()

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription; a known key is replaced.

        An invalid body raises `VectorError`, an unsupported one `AggregatorNotServed`; both change nothing.
        """
        parts = self._codec.subscription(body)
        feature = sum(1 << index for index in parts.attributes)
        needs, attributes = feature & ~self._age_bit, bytes(parts.attributes)
        pairs = relational_pairs(parts)
        held = Held(key, bytes(body), parts.event, needs, attributes, parts.constraints, pairs)
        self.check_served(held)
        self.remove(key)
        self._held[key] = held
        self.entered(held)

    def remove(self, key: SubscriptionKey) -> None:
        held = self._held.pop(key, None)
        if held is not None:
            self.left(held)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return the matches of this notification, ordered by key. An invalid vector raises `VectorError`."""
        notification = self._reader.read(vector, event_ms, now_ms)
        return sorted(self.found(notification), key=lambda match: match.key)

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Held]:
        """Return the subscriptions in order of arrival."""
        return iter(self._held.values())

    def serves(self, notification: NotificationRow, held: Held) -> bool:
        """Return whether the feature condition makes this subscription a candidate."""
        if held.event != notification.event:
            return False
        return held.needs == notification.feature if self.exact else held.needs & ~notification.feature == 0

    def judged(self, notification: NotificationRow, held: Held) -> Iterator[Match]:
        """Yield the match of a candidate, if its degree suffices."""
        n = len(held.attributes)
        work = self.work  # counted in place: calling `work.judged` would cost as much as a membership
        work.memberships += n
        work.aggregations += 1
        work.pairs += held.pairs
        degree = score(held.body, AGGREGATOR_AT, notification.row, held.attributes, n, bytearray(2 * n))
        if held.is_satisfied(degree):
            yield Match(held.key, degree)

    def check_served(self, held: Held) -> None:
        """Raise `AggregatorNotServed` for an unsupported aggregator."""
        return

    def entered(self, held: Held) -> None:
        """Handle an added subscription."""
        return

    def left(self, held: Held) -> None:
        """Handle a removed subscription."""
        return

    @abstractmethod
    def found(self, notification: NotificationRow) -> Iterator[Match]:
        """Yield every matching subscription, in any order."""
