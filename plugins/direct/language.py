"""The direct language, number 0: plain store-carry-forward of opaque bytes to a named destination.

A subscription says "everything for node N": id, revision and lifetime as in every language, then the two
bytes of N, big-endian. A notification is the two bytes of its destination and then whatever the sender
likes. It exists to compare the overlay with other simulators, whose messages have a destination instead of a
meaning.
"""

from collections.abc import Iterator, Sequence

from knowledge_manager.mission_table import MissionTable
from plugins.language import LookUp, Match, Matcher, Release, Requirement, SourceFilter, SubscriptionKey
from watchdog.reading import Reading
from watchdog.vector import VectorError

HEADER_BYTES = 3
"""Id, revision and lifetime code: what SUB/DENS reads of every subscription."""
ADDRESS_BYTES = 2


def address_of(notification: bytes) -> int:
    """Return the destination of a notification; too few bytes raise `VectorError`."""
    if len(notification) < ADDRESS_BYTES:
        raise VectorError(len(notification), "too short for the two bytes of a destination")
    return notification[0] << 8 | notification[1]


def subscription_to(node: int, id: int, seq: int, lifetime_q: int) -> bytes:
    """Return the subscription to everything for this node."""
    return bytes((id, seq, lifetime_q)) + node.to_bytes(ADDRESS_BYTES, "big")


def notification_for(destination: int, payload: bytes) -> bytes:
    """Return the notification that carries a payload to a node."""
    return destination.to_bytes(ADDRESS_BYTES, "big") + payload


def _subscribed_node(subscription: bytes) -> int:
    size = HEADER_BYTES + ADDRESS_BYTES
    if len(subscription) != size:
        raise VectorError(
            min(len(subscription), size),
            "a direct subscription is id, revision, lifetime and two bytes of node",
        )
    return subscription[3] << 8 | subscription[4]


class DirectLookUp:
    """Nobody has to measure anything: who sends to a node does so on its own account."""

    def alternatives(self, vector: bytes) -> tuple[Requirement, ...]:
        """Return no alternative; a bad vector raises `VectorError`."""
        _subscribed_node(vector)
        return ()


class DirectFilter:
    """Readings are never addressed to anybody, so none becomes a notification."""

    def add(self, key: SubscriptionKey, vector: bytes) -> None:
        """Accept the subscription; a bad vector raises `VectorError`."""
        _subscribed_node(vector)

    def remove(self, key: SubscriptionKey) -> None:
        """Do nothing: nothing is held."""

    def feed(self, reading: Reading) -> list[Release]:
        """Return no notification."""
        return []


class DirectMatcher:
    """A notification matches, fully, whoever asked for its destination."""

    def __init__(self) -> None:
        self._nodes: dict[SubscriptionKey, int] = {}
        self._matches: dict[int, list[Match]] = {}

    def add(self, key: SubscriptionKey, vector: bytes) -> None:
        """Hold this subscription; a bad vector raises `VectorError` and changes nothing."""
        node = _subscribed_node(vector)
        self.remove(key)
        self._nodes[key] = node
        self._matches[node] = sorted([*self._matches.get(node, ()), Match(key, 255)], key=_by_key)

    def remove(self, key: SubscriptionKey) -> None:
        """Forget it; an unknown key is no error."""
        node = self._nodes.pop(key, None)
        if node is not None:
            rest = [match for match in self._matches.pop(node) if match.key != key]
            if rest:
                self._matches[node] = rest

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return every subscription to the destination, ordered by key."""
        return self._matches.get(address_of(vector), [])

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


def _by_key(match: Match) -> SubscriptionKey:
    return match.key
