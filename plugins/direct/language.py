"""The direct language, number 0: store-carry-forward of opaque bytes to a named destination.

A subscription selects all messages to one node: its body is the address of that node. A notification is the
address of its destination, followed by a payload. It exists to compare the overlay with other simulators,
whose messages have a destination instead of content.

An address is the node number, big-endian, in two bytes up to 65,534. From 65,535 on it is FF FF and four
bytes. Before version 0.3 every address had two bytes; FF FF alone, or followed by a number below 65,535,
still means node 65,535.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from plugins.language import Match, Release, SubscriptionKey, SubscriptionLanguage
from watchdog.header import framed
from watchdog.reading import Reading
from watchdog.vector import VectorError

if TYPE_CHECKING:
    from plugins.lookup import MeasuresAny

SHORT_BYTES: Final = 2
_LONG: Final = 0xFFFF
"""First node number with a long address; its two bytes mark one."""
LONG_BYTES: Final = 6
_LAST_NODE: Final = (1 << 31) - 1


def encode_address(node: int) -> bytes:
    """Return the address of a node. An invalid node number raises `ValueError`."""
    if not 0 <= node <= _LAST_NODE:
        raise ValueError(f"node number {node} is out of range (0..{_LAST_NODE})")
    if node < _LONG:
        return node.to_bytes(SHORT_BYTES, "big")
    return _LONG.to_bytes(SHORT_BYTES, "big") + node.to_bytes(LONG_BYTES - SHORT_BYTES, "big")


def decode_address(data: bytes) -> tuple[int, int]:
    """Return the node of the address at the front, and the length of the address. Raise `VectorError` if too
    short.
    """
    if len(data) < SHORT_BYTES:
        raise VectorError(len(data), "too short for an address of two bytes")
    node = int.from_bytes(data[:SHORT_BYTES], "big")
    if node == _LONG and len(data) >= LONG_BYTES:
        long = int.from_bytes(data[SHORT_BYTES:LONG_BYTES], "big")
        if _LONG <= long <= _LAST_NODE:
            return long, LONG_BYTES
    return node, SHORT_BYTES


def address_of(notification: bytes) -> int:
    """Return the destination of a notification, or raise `VectorError`."""
    return decode_address(notification)[0]


def subscription_to(node: int, id: int, seq: int, lifetime_q: int) -> bytes:
    """Return the vector of a subscription to all messages to this node."""
    return framed(id, seq, lifetime_q, encode_address(node))


def notification_for(destination: int, payload: bytes) -> bytes:
    """Return a notification with a payload for a node."""
    return encode_address(destination) + payload


def _subscribed_node(body: bytes) -> int:
    node, size = decode_address(body)
    if size != len(body):
        raise VectorError(size, "a direct subscription is an address of two or six bytes")
    return node


class DirectLookUp:
    """Direct messages need no publisher: senders write them on their own."""

    def question(self, body: bytes) -> "MeasuresAny":
        """Return a question that no publisher satisfies. An invalid body raises `VectorError`."""
        from plugins.lookup import MeasuresAny

        _subscribed_node(body)
        return MeasuresAny(())


class DirectFilter:
    """Releases nothing: readings have no destination."""

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Accept the subscription. An invalid body raises `VectorError`."""
        _subscribed_node(body)

    def remove(self, key: SubscriptionKey) -> None:
        pass

    def feed(self, reading: Reading) -> list[Release]:
        return []


class DirectMatcher:
    """Matches a notification, fully, with all subscriptions to its destination."""

    def __init__(self) -> None:
        self._nodes: dict[SubscriptionKey, int] = {}
        self._matches: dict[int, list[Match]] = {}

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        node = _subscribed_node(body)
        self.remove(key)
        self._nodes[key] = node
        self._matches[node] = sorted([*self._matches.get(node, ()), Match(key, 255)], key=_by_key)

    def remove(self, key: SubscriptionKey) -> None:
        node = self._nodes.pop(key, None)
        if node is not None:
            rest = [match for match in self._matches.pop(node) if match.key != key]
            if rest:
                self._matches[node] = rest

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        return self._matches.get(address_of(vector), [])

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)


DIRECT: Final = SubscriptionLanguage(
    language_id=0,
    name="direct",
    lookup=lambda table: DirectLookUp(),
    source_filter=lambda table: DirectFilter(),
    matcher=lambda table: DirectMatcher(),
)
"""Opaque bytes for a named node; independent of the mission table."""


def _by_key(match: Match) -> SubscriptionKey:
    return match.key
