"""Routing relations: covering between brokers, and advertisements (plugins/fuzzy/announced.py)."""

from collections.abc import Iterable
from functools import lru_cache

from dens.interfaces import EntryTable
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.board_vectors import SubscriptionBody, encode_body
from plugins.fuzzy.announced import announced_degree, constraints_of, least_degree
from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.relations.relations import FuzzyRelations
from plugins.routing import CoveringTable, RoutingOptions, same
from watchdog.aggregators import MIN
from watchdog.membership import degree

_REMEMBERED = 1 << 12
_ANYTHING = (0, 255, 0)

Announced = tuple[SubscriptionBody, dict[int, frozenset[int]]]
"""The parts of a body, and for each attribute the values with which it can match."""


class FuzzyRouting:
    def __init__(self, table: MissionTable, relations: FuzzyRelations, options: RoutingOptions) -> None:
        self._codec = FuzzyCodec(table)
        self._age = table.age_index
        self._covers = relations.covers
        self._options = options
        self._announced = lru_cache(_REMEMBERED)(self._decode)

    def _decode(self, body: bytes) -> Announced:
        parts = self._codec.subscription(body)
        least = least_degree(parts)
        return parts, {
            attribute: frozenset(value for value in range(256) if degree(value, *triple) >= least)
            for attribute, triple in constraints_of(parts).items()
            if attribute != self._age
        }

    def includes(self, one: bytes, other: bytes) -> bool:
        (wide, room), (narrow, values) = self._announced(one), self._announced(other)
        return wide.event == narrow.event and all(at in room and values[at] <= room[at] for at in values)

    def advertises(self, advertisement: bytes, wanted: bytes) -> bool:
        (announced, room), (parts, values) = self._announced(advertisement), self._announced(wanted)
        return announced.event == parts.event and all(at in room and values[at] & room[at] for at in values)

    def admits(self, advertisement: bytes, vector: bytes) -> bool:
        notification = self._codec.notification(vector)
        parts, _ = self._announced(advertisement)
        values = dict(zip(notification.attributes, notification.values, strict=True))
        return announced_degree(parts, notification.event, values) is not None

    def table(self) -> EntryTable:
        """Return an empty table without merging."""
        return CoveringTable(self._covers if self._options.covering else same)

    def advertisement(self, event: EventClass, attributes: Iterable[Attribute]) -> bytes | None:
        """Return an advertisement of all values of these attributes."""
        named = tuple(sorted({attribute.index for attribute in attributes}))
        if not named:
            return None
        parts = SubscriptionBody(
            stamp_s=0,
            threshold=0,
            aggregator=MIN,
            block=b"",
            constraints=(_ANYTHING,) * len(named),
            event=event.index,
            attributes=named,
            feature_bytes=self._codec.feature_bytes,
        )
        return encode_body(parts)
