"""`naive`: matching by the definition, to which all other algorithms are held.

>>> matcher = NaiveMatcher(None)
>>> matcher.add((7, 0), bytes.fromhex("0000000300000078"))
>>> matcher.match(bytes.fromhex("0001840000000301000078"), event_ms=0, now_ms=0)
[Match(key=(7, 0), degree_u8=255, detail=b'\\xff', revision=None)]
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from knowledge_manager.mission_table import MissionTable
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.degrees import Degrees
from plugins.atopss.shapes.scale import byte_of
from plugins.atopss.subscriptions import Subscription
from plugins.language import Match, SubscriptionKey


class OneByOne(ABC):
    """Base of matchers that process notifications one by one."""

    __slots__ = ("_codec",)

    def __init__(self, table: MissionTable | None) -> None:
        self._codec = AtopssCodec(table)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return the matches of this notification, ordered by key. An invalid vector raises `VectorError`."""
        found = self.satisfied(self._codec.notification(vector))
        return [found_match(key, degrees) for key, degrees in sorted(found)]

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)

    @abstractmethod
    def satisfied(self, notification: Notification) -> list[tuple[SubscriptionKey, Degrees]]:
        """Return the satisfied subscriptions, in any order."""


def found_match(key: SubscriptionKey, degrees: Degrees) -> Match:
    """Return a match: its degree is Π, its detail is N, one byte each."""
    return Match(key, byte_of(degrees[0]), bytes([byte_of(degrees[1])]))


class NaiveMatcher(OneByOne):
    """Evaluates every subscription."""

    __slots__ = ("held",)

    def __init__(self, table: MissionTable | None) -> None:
        super().__init__(table)
        self.held: dict[SubscriptionKey, Subscription] = {}

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        self.held[key] = self._codec.subscription(body)

    def remove(self, key: SubscriptionKey) -> None:
        self.held.pop(key, None)

    def satisfied(self, notification: Notification) -> list[tuple[SubscriptionKey, Degrees]]:
        return [
            (key, degrees)
            for key, wanted in self.held.items()
            if wanted.event == notification.event
            and (degrees := wanted.judge(notification.values)) is not None
        ]
