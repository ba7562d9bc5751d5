"""The direct language, number 0: plain store-carry-forward of opaque bytes to a named destination.

A subscription says "everything for node N" and is the two bytes of N, big-endian. A notification is the two
bytes of its destination and then whatever the sender likes. It exists to compare the overlay with other
simulators, whose messages have a destination instead of a meaning.
"""

from collections.abc import Iterator, Sequence

from knowledge_manager.mission_table import MissionTable
from plugins.language import LookUp, Match, Matcher, Release, Requirement, SourceFilter, SubscriptionKey
from watchdog.reading import Reading
from watchdog.vector import VectorError

ADDRESS_BYTES = 2


def address_of(vector: bytes) -> int:
    """Return the destination of a notification or the node of a subscription; too few bytes raise
    `VectorError`.
    """
    if len(vector) < ADDRESS_BYTES:
        raise VectorError(len(vector), "too short for the two bytes of a destination")
    return int.from_bytes(vector[:ADDRESS_BYTES], "big")


def subscription_to(node: int) -> bytes:
    """Return the subscription to everything for this node."""
    return node.to_bytes(ADDRESS_BYTES, "big")


def notification_for(destination: int, payload: bytes) -> bytes:
    """Return the notification that carries a payload to a node."""
    return destination.to_bytes(ADDRESS_BYTES, "big") + payload


def _checked_subscription(vector: bytes) -> int:
    if len(vector) > ADDRESS_BYTES:
        raise VectorError(ADDRESS_BYTES, "a direct subscription is two bytes")
    return address_of(vector)


class DirectLookUp:
    """Nobody has to measure anything: who sends to a node does so on its own account."""

    def alternatives(self, vector: bytes) -> tuple[Requirement, ...]:
        """Return no alternative; a bad vector raises `VectorError`."""
        _checked_subscription(vector)
        return ()


class DirectFilter:
    """Readings are never addressed to anybody, so none becomes a notification."""

    def add(self, key: SubscriptionKey, vector: bytes) -> None:
        """Accept the subscription; a bad vector raises `VectorError`."""
        _checked_subscription(vector)

    def remove(self, key: SubscriptionKey) -> None:
        """Do nothing: nothing is held."""

    def feed(self, reading: Reading) -> list[Release]:
        """Return no notification."""
        return []


class DirectMatcher:
    """A notification matches, fully, whoever asked for its destination."""

    def __init__(self) -> None:
        self._nodes: dict[SubscriptionKey, int] = {}

    def add(self, key: SubscriptionKey, vector: bytes) -> None:
        """Hold this subscription; a bad vector raises `VectorError` and changes nothing."""
        self._nodes[key] = _checked_subscription(vector)

    def remove(self, key: SubscriptionKey) -> None:
        """Forget it; an unknown key is no error."""
        self._nodes.pop(key, None)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return every subscription to the destination, ordered by key."""
        destination = address_of(vector)
        return [Match(key, 255) for key, node in sorted(self._nodes.items()) if node == destination]

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        """Yield the matches of each notification, in their order."""
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)

    def next_timer_ms(self) -> int | None:
        """Return None: it never wants to be asked without a notification."""
        return None


class DirectLanguage:
    """Opaque bytes for a named node."""

    language_id = 0
    name = "direct"

    def lookup(self, table: MissionTable) -> LookUp:
        """Make a look-up; the mission table takes no part."""
        return DirectLookUp()

    def source_filter(self, table: MissionTable) -> SourceFilter:
        """Make a filter that lets no reading pass."""
        return DirectFilter()

    def matcher(self, table: MissionTable) -> Matcher:
        """Make a matcher by destination."""
        return DirectMatcher()
