"""The direct language, number 0: plain store-carry-forward of opaque bytes to a named destination.

A subscription says "everything for node N": its body is the two bytes of N, big-endian. A
notification is the two bytes of its destination and then whatever the sender likes. It exists to compare the
overlay with other simulators, whose messages have a destination instead of a meaning.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from plugins.language import Match, Release, SubscriptionKey, SubscriptionLanguage
from plugins.lookup import MeasuresAny
from watchdog.header import framed
from watchdog.reading import Reading
from watchdog.vector import VectorError

ADDRESS_BYTES: Final = 2


def address_of(notification: bytes) -> int:
    """Return the destination of a notification; too few bytes raise `VectorError`."""
    if len(notification) < ADDRESS_BYTES:
        raise VectorError(len(notification), "too short for the two bytes of a destination")
    return notification[0] << 8 | notification[1]


def subscription_to(node: int, id: int, seq: int, lifetime_q: int) -> bytes:
    """Return the vector of a subscription to everything for this node."""
    return framed(id, seq, lifetime_q, node.to_bytes(ADDRESS_BYTES, "big"))


def notification_for(destination: int, payload: bytes) -> bytes:
    """Return the notification that carries a payload to a node."""
    return destination.to_bytes(ADDRESS_BYTES, "big") + payload


def _subscribed_node(body: bytes) -> int:
    if len(body) != ADDRESS_BYTES:
        raise VectorError(min(len(body), ADDRESS_BYTES), "a direct subscription is two bytes of node")
    return body[0] << 8 | body[1]


class DirectLookUp:
    """Nobody has to measure anything: who sends to a node does so on its own account."""

    def question(self, body: bytes) -> MeasuresAny:
        """Return the question that no publisher answers; a bad body raises `VectorError`."""
        _subscribed_node(body)
        return MeasuresAny(())


class DirectFilter:
    """Readings are never addressed to anybody, so none becomes a notification."""

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Accept the subscription; a bad body raises `VectorError`."""
        _subscribed_node(body)

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

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Hold this subscription; a bad body raises `VectorError` and changes nothing."""
        node = _subscribed_node(body)
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


DIRECT: Final = SubscriptionLanguage(
    language_id=0,
    name="direct",
    lookup=lambda table: DirectLookUp(),
    source_filter=lambda table: DirectFilter(),
    matcher=lambda table: DirectMatcher(),
)
"""Opaque bytes for a named node; the mission table takes no part."""


def _by_key(match: Match) -> SubscriptionKey:
    return match.key
