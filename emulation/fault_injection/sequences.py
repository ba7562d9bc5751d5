"""A composite language small enough to be its own oracle: two notifications of one source in sequence.

A body is two pairs of topic and least value (fault_injection/topics.py) and the largest distance between the
numbers of the two. A match is two notifications of one source: the first satisfies the first pair, the last
one the second pair, numbered in that order and within the distance. Every last notification makes one
composite. Sources may predict a match and publish the outcome of the prediction in the same format:

    kind  subscriber (4)  id  revision  last one (8)  first, or opening, one (8)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from struct import Struct

from dens.interfaces import CompositeNotification, Result
from dens.overlay.wire.item import NUMBER_BITS, ItemId
from emulation.fault_injection.topics import LANGUAGE, TopicError, TopicMatch, TopicPart, matches, parts_of
from watchdog.header import NO_HEADER

SEQUENCE = 11
BODY_BYTES = 5
KEEP_Q = 80
"""The lifetime code of composites, longer than any world."""
MATCH, PREDICTION, CONFIRMED, WITHDRAWN = 1, 2, 3, 4
_COMPOSITE = Struct(">BIBBQQ")


@dataclass(frozen=True)
class Composite:
    """A notification of this language."""

    kind: int
    subscriber: int
    id: int
    seq: int
    last: ItemId
    first: ItemId

    def encode(self) -> bytes:
        return _COMPOSITE.pack(self.kind, self.subscriber, self.id, self.seq, self.last, self.first)

    @classmethod
    def decode(cls, vector: bytes) -> "Composite":
        if len(vector) != _COMPOSITE.size or not MATCH <= vector[0] <= WITHDRAWN:
            raise TopicError("a composite is a kind, a subscription and two messages", len(vector))
        return cls(*_COMPOSITE.unpack(vector))

    @property
    def match(self) -> bytes:
        """Return the identity of the match, the same in a match and in confirmations of it."""
        return b"M%d %d %d %d" % (self.subscriber, self.id, self.seq, self.last)

    @property
    def prediction(self) -> bytes:
        """Return the identity of the prediction, the same in its outcome."""
        return b"P%d %d %d %d" % (self.subscriber, self.id, self.seq, self.first)


def results_of(vector: bytes) -> tuple[Result, ...]:
    """Return the results in a composite."""
    composite = Composite.decode(vector)
    found = []
    if composite.kind in (MATCH, CONFIRMED):
        found.append(Result(composite.match, 0))
    if composite.kind != MATCH:
        found.append(Result(composite.prediction, 0 if composite.kind == PREDICTION else 1))
    return tuple(found)


def parts_of_sequence(body: bytes) -> tuple[TopicPart, ...]:
    """Return the two pairs of a sequence as parts."""
    return parts_of(_checked(body)[:4])


def _checked(body: bytes) -> bytes:
    if len(body) != BODY_BYTES:
        raise TopicError("a sequence is two topics and least values, and a distance", len(body))
    return body


def satisfies(body: bytes, place: int, vector: bytes) -> bool:
    """Return whether a notification satisfies the pair at a place of a sequence, 0 or 1. Bytes that are not a
    notification of the topic language satisfy none.
    """
    return len(vector) == 2 and matches(NO_HEADER + body[2 * place : 2 * place + 2], vector)


def is_in_order(body: bytes, first: ItemId, last: ItemId) -> bool:
    """Return whether two messages of one source are in order, and near enough."""
    return first >> NUMBER_BITS == last >> NUMBER_BITS and 0 < last - first <= body[4]


class SequenceMatcher:
    """Matches composites by the subscription that they name."""

    def __init__(self) -> None:
        self._keys: set[tuple[int, int]] = set()

    def add(self, key: tuple[int, int], body: bytes) -> None:
        _checked(body)
        self._keys.add(key)

    def remove(self, key: tuple[int, int]) -> None:
        self._keys.discard(key)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[TopicMatch]:
        composite = Composite.decode(vector)
        key = (composite.subscriber, composite.id)
        return [TopicMatch(key, 255, b"", composite.seq)] if key in self._keys else []

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[TopicMatch]]]:
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)


@dataclass(frozen=True)
class _Sought:
    body: bytes
    revision: int
    since_ms: int
    until_ms: int

    def wants(self, place: int, event: tuple[bytes, int]) -> bool:
        vector, event_ms = event
        return self.since_ms <= event_ms < self.until_ms and satisfies(self.body, place, vector)


class SequenceComposer:
    """Keeps all notifications and searches all of them."""

    def __init__(self) -> None:
        self._sought: dict[tuple[int, int], _Sought] = {}
        self._events: dict[ItemId, tuple[bytes, int]] = {}

    @property
    def listens_to(self) -> frozenset[int]:
        return frozenset({LANGUAGE})

    def add(self, key: tuple[int, int], body: bytes, revision: int, since_ms: int, until_ms: int) -> None:
        self._sought[key] = _Sought(_checked(body), revision, since_ms, until_ms)

    def remove(self, key: tuple[int, int]) -> None:
        self._sought.pop(key, None)

    def feed(
        self,
        item_id: ItemId,
        language_id: int,
        vector: bytes,
        event_ms: int,
        now_ms: int,
        only: tuple[int, int] | None = None,
    ) -> list[CompositeNotification]:
        if len(vector) != 2:
            raise TopicError("a notification has two bytes", len(vector))
        self._events[item_id] = (vector, event_ms)
        keys = self._sought if only is None else (only,)
        return [made for key in keys for made in self._ends(key, item_id)]

    def _ends(self, key: tuple[int, int], item_id: ItemId) -> Iterator[CompositeNotification]:
        """Yield a composite for every last message of a match that contains this message."""
        sought = self._sought[key]
        for last, event in sorted(self._events.items()):
            if not sought.wants(1, event):
                continue
            firsts = [
                first
                for first, other in self._events.items()
                if is_in_order(sought.body, first, last) and sought.wants(0, other)
            ]
            if firsts and (last == item_id or item_id in firsts):
                made = Composite(MATCH, *key, sought.revision, last, max(firsts))
                yield CompositeNotification(made.encode(), event[1], KEEP_Q)

    def forget(self, item_id: ItemId) -> None:
        self._events.pop(item_id, None)

    def wanted_by(self, item_id: ItemId) -> dict[int, int]:
        event = self._events.get(item_id)
        return {
            key[0]: event[0][1]
            for key, sought in self._sought.items()
            if event is not None and (sought.wants(0, event) or sought.wants(1, event))
        }

    def parts_of(self, made_vector: bytes) -> tuple[ItemId, ...] | None:
        composite = Composite.decode(made_vector)
        parts = (composite.first, composite.last)
        is_made = composite.kind == MATCH and all(part in self._events for part in parts)
        return parts if is_made else None
