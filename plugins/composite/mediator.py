"""What a mediator does with composite subscriptions besides composing: look-up, decomposition, and matching
of composites with the subscriptions that they name.
"""

from collections.abc import Iterator, Sequence

from knowledge_manager.mission_table import MissionTable
from plugins.composite.composites import decode_composite
from plugins.composite.vectors import constraints_of, decode_body
from plugins.language import BOARD_LANGUAGE_ID, Match, Part, Requirement, SubscriptionKey, TakeApart
from plugins.lookup import MeasuresAny


class CompositeLookUp:
    """A publisher serves a subscription if it measures all that some primitive constrains."""

    def __init__(self, table: MissionTable) -> None:
        self._table = table

    def question(self, body: bytes) -> MeasuresAny:
        """Return one alternative per primitive. An invalid body raises `VectorError`."""
        width = self._table.feature_bytes
        about = [
            constraints_of(primitive, width) for primitive in decode_body(body, width, self._table).primitives
        ]
        wanted = [Requirement(one.event, frozenset(one.attributes)) for one in about]
        return MeasuresAny(tuple(dict.fromkeys(wanted)))


def source_only_features(table: MissionTable, body: bytes) -> str:
    """Return what only a source that sees every reading can evaluate."""
    whole = decode_body(body, table.feature_bytes, table)
    if whole.select == "first":
        return "non-overlapping matches (select first)"
    return "" if whole.prediction is None else "predictions"


def take_apart(table: MissionTable) -> TakeApart:
    """Return the decomposition of a body into one subscription of the boards' language per primitive: every
    possible part of a match passes, and mediators compose.

    `first` consumes readings in stream order, which only the source sees, so it has no parts.
    """

    def parts(body: bytes) -> tuple[Part, ...]:
        whole = decode_body(body, table.feature_bytes, table)
        if whole.select == "first":
            return ()
        return tuple(Part(BOARD_LANGUAGE_ID, whole.part(number)) for number in range(len(whole.primitives)))

    return parts


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
