"""What brokers ask: covering and merging between them, and what an advertisement announces.

An advertisement is a plain subscription whose thresholds say nothing. It announces the publications of its
event that tell no other attributes than it names, each value within the support of what it names for it.
"""

from collections.abc import Iterable
from functools import lru_cache

from knowledge_manager.event_class import Attribute, EventClass
from plugins.atopss.canonical import canonical
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.relations.merging import Names, Similarity, merged
from plugins.atopss.relations.merging_table import MergingTable
from plugins.atopss.relations.relations import AtopssRelations
from plugins.atopss.scale import TOP
from plugins.atopss.shapes import ANYTHING, Shape
from plugins.atopss.subscriptions import Form, Joined, Norm, Predicate, Subscription
from plugins.atopss.vectors import encode_subscription
from plugins.routing import CoveringTable, EntryTable, RoutingOptions, same
from watchdog.header import BODY_AT
from watchdog.vector import VectorError

_REMEMBERED = 1 << 16
"""So many answers about pairs of bodies are remembered: brokers of one mission ask the same of each other."""
_REMEMBERED_BODIES = 1 << 14


class AtopssRouting:
    """Answers about bodies of the language."""

    def __init__(self, relations: AtopssRelations, codec: AtopssCodec, options: RoutingOptions) -> None:
        self._codec = codec
        self._options = options
        self.covers = lru_cache(_REMEMBERED)(relations.covers)
        self.similarity = lru_cache(_REMEMBERED)(relations.similarity)
        self.names = relations.names
        self.advertises = lru_cache(_REMEMBERED)(relations.advertises)
        self._announced = lru_cache(_REMEMBERED_BODIES)(self._decode)

    def _decode(self, body: bytes) -> tuple[int, dict[int, Shape]]:
        """Return the event of an advertisement, and the shapes that it names; refuse what is none."""
        said = self._codec.subscription(body)
        shapes = {leaf.attribute: leaf.shape for leaf in said.predicates}
        is_plain = said.form == Form.AND and said.norm == Norm.MIN and len(shapes) == len(said.predicates)
        thresholds = [said.possibility, said.necessity]
        for leaf in said.predicates:
            is_plain = is_plain and not leaf.complement
            thresholds += [leaf.possibility, leaf.necessity]
        if not is_plain or any(thresholds):
            raise VectorError(
                BODY_AT,
                "an advertisement joins by and, names each attribute once, as it is, and has no thresholds",
            )
        return said.event, shapes

    def includes(self, one: bytes, other: bytes) -> bool:
        """Say whether all that one advertisement announces another does too."""
        event, wide = self._announced(one)
        other_event, narrow = self._announced(other)
        return event == other_event and _lie_within(narrow, wide)

    def admits(self, advertisement: bytes, vector: bytes) -> bool:
        """Say whether a publication lies in what an advertisement announces."""
        told = self._codec.notification(vector)
        event, supports = self._announced(advertisement)
        return told.event == event and _lie_within(told.values, supports)

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        """Return a body in place of both, with thresholds as the mission wants them; None where there is
        none.
        """
        thresholds = "min" if self._options.merging is None else self._options.merging.thresholds
        found = merged(self._codec.subscription(one), self._codec.subscription(other), thresholds)
        return None if found is None else encode_subscription(found)

    def table(self) -> EntryTable:
        """Return an empty table that spares what the mission wants to be spared."""
        merging = self._options.merging
        if merging is None:
            return CoveringTable(self.covers if self._options.covering else same)
        return MergingTable(
            _Spared(self, self._options.covering),
            merging.overlap,
            round(TOP * merging.possibility),
            round(TOP * merging.necessity),
        )

    def advertisement(self, event: EventClass, attributes: Iterable[Attribute]) -> bytes | None:
        """Return an advertisement of anything about these attributes."""
        leaves = tuple(Predicate(attribute.index, ANYTHING) for attribute in attributes)
        if not leaves:
            return None
        whole: Subscription = canonical(event.index, Joined(False, leaves))
        return encode_subscription(whole)


class _Spared:
    """What a table of mergers asks; without covering only an equal body stands for another."""

    def __init__(self, routing: AtopssRouting, covering: bool) -> None:
        self._routing = routing
        self._covering = covering

    def covers(self, one: bytes, other: bytes) -> bool:
        """Say whether one stands for the other."""
        return self._routing.covers(one, other) if self._covering else one == other

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        """Return a body in place of both."""
        return self._routing.merge(one, other)

    def names(self, body: bytes) -> Names | None:
        """Return what a body names."""
        return self._routing.names(body)

    def similarity(self, one: bytes, other: bytes, least: Similarity) -> Similarity | None:
        """Return how alike two bodies are."""
        return self._routing.similarity(one, other, least)


def _lie_within(narrow: dict[int, Shape], wide: dict[int, Shape]) -> bool:
    return all(
        attribute in wide and wide[attribute].m1 <= shape.m1 and shape.m4 <= wide[attribute].m4
        for attribute, shape in narrow.items()
    )
