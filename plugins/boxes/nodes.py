"""Look-up, filtering and decomposition of boxes."""

from typing import Final

from knowledge_manager.mission_table import MissionTable
from plugins.board_parts import crisp_part
from plugins.boxes.simplify import simplified
from plugins.boxes.vectors import Box, BoxesBody, decode_body, last_bytes, mask_of_box, needed_masks
from plugins.language import Part, Release, Requirement, SubscriptionKey, TakeApart
from plugins.lookup import MeasuresAny
from watchdog.filter import FuzzyFilter
from watchdog.header import NO_HEADER
from watchdog.lifetime import lifetime_code
from watchdog.reading import Reading
from watchdog.vector import ONE_HOUR

MOST_EXACT_PARTS: Final = 15
"""Boxes that boards are given individually; of more they get the hulls of those with the same attributes."""


class BoxLookUp:
    """A publisher serves a subscription if it measures all that some box constrains."""

    def __init__(self, table: MissionTable) -> None:
        self._table = table

    def question(self, body: bytes) -> MeasuresAny:
        """Return the minimal alternatives. An invalid body raises `VectorError`."""
        parts = decode_body(body, self._table.feature_bytes, self._table)
        return MeasuresAny(
            tuple(
                Requirement(
                    parts.event, frozenset(index for index in range(mask.bit_length()) if mask >> index & 1)
                )
                for mask in needed_masks(parts.boxes)
            )
        )


def take_apart(table: MissionTable) -> TakeApart:
    """Return the decomposition of a body into the crisp subscriptions that boards serve instead."""

    def parts(body: bytes) -> tuple[Part, ...]:
        whole = decode_body(body, table.feature_bytes, table)
        return tuple(
            crisp_part(table, whole.event, {attribute: (low, high) for attribute, low, high in box})
            for box in let_through(whole, table)
        )

    return parts


def let_through(whole: BoxesBody, table: MissionTable) -> tuple[Box, ...]:
    """Return the boxes for boards: a filter may release too much, never too little."""
    if len(whole.boxes) <= MOST_EXACT_PARTS:
        return whole.boxes
    return simplified(hulls(whole.boxes), last_bytes(table.event_at(whole.event)))


def hulls(boxes: tuple[Box, ...]) -> list[Box]:
    """Return, for each attribute mask, the smallest box around all its boxes."""
    found: dict[int, Box] = {}
    for box in boxes:
        known = found.get(mask_of_box(box), box)
        found[mask_of_box(box)] = tuple(
            (attribute, min(low, least), max(high, most))
            for (attribute, low, high), (_, least, most) in zip(box, known, strict=True)
        )
    return list(found.values())


class BoxFilter:
    """Releases what some box contains, as notifications of the boards' language, by the boards' own filter
    with the parts.
    """

    def __init__(self, table: MissionTable) -> None:
        self._filter = FuzzyFilter(table.feature_bytes)
        self._apart = take_apart(table)
        self._lifetimes = {
            event.index: lifetime_code(event.notification_lifetime_s) for event in table.events
        }
        self._inner: dict[SubscriptionKey, list[SubscriptionKey]] = {}
        self._next = 0

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        parts = self._apart(body)
        self.remove(key)
        self._inner[key] = []
        for part in parts:
            inner = (self._next >> 8, self._next & 255)
            self._next += 1
            self._filter.add(inner, NO_HEADER + part.body)
            self._inner[key].append(inner)

    def remove(self, key: SubscriptionKey) -> None:
        for inner in self._inner.pop(key, ()):
            self._filter.remove(inner)

    def feed(self, reading: Reading) -> list[Release]:
        """Return the notifications of this reading, with the lifetime of its event class."""
        self._filter.scan.vector[2] = self._lifetimes.get(reading.event, ONE_HOUR)
        return self._filter.feed(reading)
