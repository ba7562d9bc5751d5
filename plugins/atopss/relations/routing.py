"""Routing relations: covering and merging between brokers, and advertisements.

An advertisement is a plain subscription without thresholds; plugins/atopss/announced.py defines what it
announces.
"""

from collections.abc import Iterable
from functools import lru_cache

from dens.interfaces import EntryTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.atopss.announced import advertisement_in, lie_within, shapes_of
from plugins.atopss.canonical import canonical
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.relations.merging import Names, Similarity, merged
from plugins.atopss.relations.merging_table import MergingTable
from plugins.atopss.relations.relations import AtopssRelations
from plugins.atopss.shapes.scale import TOP
from plugins.atopss.shapes.shapes import ANYTHING, Shape
from plugins.atopss.subscriptions import Joined, Predicate, Subscription
from plugins.atopss.vectors import encode_subscription
from plugins.routing import CoveringTable, RoutingOptions, same

_REMEMBERED = 1 << 16
"""Size of the cache of answers about pairs of bodies: the brokers of a mission repeat the same
comparisons."""
_REMEMBERED_BODIES = 1 << 14


class AtopssRouting:
    def __init__(self, relations: AtopssRelations, codec: AtopssCodec, options: RoutingOptions) -> None:
        self._codec = codec
        self._options = options
        self.covers = lru_cache(_REMEMBERED)(relations.covers)
        self.similarity = lru_cache(_REMEMBERED)(relations.similarity)
        self.names = relations.names
        self.advertises = lru_cache(_REMEMBERED)(relations.advertises)
        self._announced = lru_cache(_REMEMBERED_BODIES)(self._decode)

    def _decode(self, body: bytes) -> tuple[int, dict[int, Shape]]:
        """Return the event and the shapes of an advertisement; refuse other bodies."""
        advertisement = advertisement_in(body, self._codec)
        return advertisement.event, shapes_of(advertisement)

    def includes(self, one: bytes, other: bytes) -> bool:
        """Return whether one advertisement announces all that another does."""
        event, wide = self._announced(one)
        other_event, narrow = self._announced(other)
        return event == other_event and lie_within(narrow, wide, self._codec.lengths(event))

    def admits(self, advertisement: bytes, vector: bytes) -> bool:
        """Return whether an advertisement announces a publication."""
        notification = self._codec.notification(vector)
        event, supports = self._announced(advertisement)
        return notification.event == event and lie_within(
            notification.values, supports, self._codec.lengths(event)
        )

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        """Return a merged body, with thresholds by the mission's options; None if there is none."""
        thresholds = "min" if self._options.merging is None else self._options.merging.thresholds
        found = merged(self._codec.subscription(one), self._codec.subscription(other), thresholds)
        return None if found is None else encode_subscription(found)

    def table(self) -> EntryTable:
        """Return an empty table with the mission's options."""
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
        """Return an advertisement of all values of these attributes."""
        leaves = tuple(Predicate(attribute.index, ANYTHING) for attribute in attributes)
        if not leaves:
            return None
        whole: Subscription = canonical(event.index, Joined(False, leaves))
        return encode_subscription(whole)


class _Spared:
    """Relations of a table of mergers; without covering, a body covers only equal ones."""

    def __init__(self, routing: AtopssRouting, covering: bool) -> None:
        self._routing = routing
        self._covering = covering

    def covers(self, one: bytes, other: bytes) -> bool:
        return self._routing.covers(one, other) if self._covering else one == other

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        return self._routing.merge(one, other)

    def names(self, body: bytes) -> Names | None:
        return self._routing.names(body)

    def similarity(self, one: bytes, other: bytes, least: Similarity) -> Similarity | None:
        return self._routing.similarity(one, other, least)
