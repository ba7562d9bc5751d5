"""The merged answer to one look-up: announcements that several mediators reported.

Of each publisher the newest announcement counts, of two copies the one created earlier, and the shortest
distance. The result does not depend on the order or the number of answers.
"""

from typing import Final

from dens.overlay.events import HeardOffer
from dens.overlay.wire.envelope import pack
from dens.overlay.wire.item import Item
from dens.overlay.wire.lookup_messages import ENTRY_BYTES, FLAG_WORDS, MUCH, PARTS_MAX, OfferEntry, Offers

DISTANCE_MAX: Final = 255
"""The greatest distance on the air; publishers out of contact rank behind it."""
PART_BYTES: Final = 1_100
"""Approximate bytes of offers per datagram, to avoid fragmentation."""
_MEDIATORS_MAX: Final = 65_535


class GatheredOffers:
    """The answer to one look-up, as far as it is known."""

    __slots__ = ("_most_bytes", "_offers", "_size", "flags", "mediators")

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._offers: dict[int, HeardOffer] = {}
        self._size = 0
        self.flags = 0
        """Why the answer may be partial."""
        self.mediators = 0
        """Mediators that have answered."""

    def add(self, distance: int, item: Item) -> None:
        """Add an announcement whose publisher is at this distance in hops (0: not in contact)."""
        known = self._offers.get(item.origin)
        if known is not None:
            distance = min(distance or known.distance, known.distance or distance)
            held = known.item
            if (held.number, -held.created_ms) >= (item.number, -item.created_ms):
                item = held
            self._size -= _bytes_of(known)
        offer = HeardOffer(distance, item)
        self._offers[item.origin] = offer
        self._size += _bytes_of(offer)
        if self._size > 2 * self._most_bytes:
            self._drop_farthest()

    def add_answer(self, flags: int, mediators: int) -> None:
        """Add the flags and the count of mediators of a complete answer."""
        self.flags |= flags
        self.mediators = min(self.mediators + mediators, _MEDIATORS_MAX)

    def offers(self, now_ms: int) -> tuple[HeardOffer, ...]:
        """Return the unexpired announcements within the size limit, the nearest first, then the newest."""
        self._drop_farthest()
        return tuple(
            offer for offer in sorted(self._offers.values(), key=_rank) if offer.item.expires_ms > now_ms
        )

    def parts(self, asker: int, number: int, table_check: int, now_ms: int) -> list[Offers]:
        """Return the answer in parts, announcements with their current age. Repeated, it has the same parts
        until one of them expires.
        """
        grouped: list[list[OfferEntry]] = [[]]
        size = 0
        for distance, item in self.offers(now_ms):
            if size and size + ENTRY_BYTES + item.size > PART_BYTES:
                grouped.append([])
                size = 0
            message = pack(item, table_check, item.age_ms(now_ms), item.hops + 1, 0)
            grouped[-1].append(OfferEntry(distance, message))
            size += ENTRY_BYTES + item.size
        flags = self.flags
        if len(grouped) > PARTS_MAX:
            flags |= MUCH
            del grouped[PARTS_MAX:]
        return [
            Offers(asker, number, part, len(grouped), flags, self.mediators, tuple(entries))
            for part, entries in enumerate(grouped)
        ]

    def missing(self) -> tuple[str, ...]:
        """Return why the answer may be partial; nothing if every mediator in reach has answered."""
        return tuple(word for flag, word in FLAG_WORDS.items() if self.flags & flag)

    def _drop_farthest(self) -> None:
        if self._size <= self._most_bytes:
            return
        self.flags |= MUCH
        kept: dict[int, HeardOffer] = {}
        size = 0
        for offer in sorted(self._offers.values(), key=_rank):
            if size + _bytes_of(offer) > self._most_bytes:
                break
            size += _bytes_of(offer)
            kept[offer.item.origin] = offer
        self._offers, self._size = kept, size


def _bytes_of(offer: HeardOffer) -> int:
    return ENTRY_BYTES + offer.item.size


def _rank(offer: HeardOffer) -> tuple[int, int, int]:
    return offer.distance or DISTANCE_MAX + 1, -offer.item.created_ms, offer.item.origin
