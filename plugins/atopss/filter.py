"""Filter at the source: the matcher's arithmetic on the source's values."""

from collections.abc import Collection
from dataclasses import replace

from knowledge_manager.mission_table import MissionTable
from plugins.atopss.announced import advertisement_in, lie_within, shapes_of
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.notifications import Notification
from plugins.atopss.published_values import values_of_reading
from plugins.atopss.shapes.degrees import Degrees
from plugins.atopss.shapes.scale import BYTE_TOP, byte_of
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Subscription
from plugins.atopss.vectors import encode_notification
from plugins.language import Release, SubscriptionKey
from watchdog.lifetime import lifetime_code
from watchdog.reading import Reading

DEGREES_AT = 5
"""Offset of the releasing degrees in a notification."""


def with_degrees(document: bytes, best: Degrees, lifetime: int) -> Release:
    """Return the release of a publication, with these degrees."""
    degrees = bytes([_fifteenths(best[0]) << 4 | _fifteenths(best[1])])
    return Release(document[:DEGREES_AT] + degrees + document[DEGREES_AT + 1 :], byte_of(best[0]), lifetime)


class AtopssFilter:
    """Releases a reading, once, if it satisfies a subscription, with the attributes of all satisfied ones.

    If subscriptions are suppressed because of covering, sources must release complete readings (`is_whole`):
    a covering subscription may have fewer attributes.
    """

    __slots__ = ("_codec", "_held", "_is_whole", "_table")

    def __init__(self, table: MissionTable, *, is_whole: bool = False) -> None:
        self._table = table
        self._codec = AtopssCodec(table)
        self._held: dict[SubscriptionKey, Subscription] = {}
        self._is_whole = is_whole

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        self._held[key] = self._codec.subscription(body)

    def remove(self, key: SubscriptionKey) -> None:
        self._held.pop(key, None)

    def feed(self, reading: Reading) -> list[Release]:
        """Return the notification of this reading, or none."""
        values = values_of_reading(reading, self._table) if self._held else {}
        if not values:
            return []
        satisfied, best = self._satisfied(reading.event, self._codec.known(reading.event, values))
        if not satisfied:
            return []
        named = set(values) if self._is_whole else {at for one in satisfied for at in one.attributes}
        lifetime = lifetime_code(self._table.event_at(reading.event).notification_lifetime_s)
        notification = Notification(
            number=reading.number,
            valid=lifetime,
            stamp_s=reading.stamp_s,
            event=reading.event,
            values={at: shape for at, shape in values.items() if at in named},
            possibility=_fifteenths(best[0]),
            necessity=_fifteenths(best[1]),
        )
        return [Release(encode_notification(notification), byte_of(best[0]), lifetime)]

    def offer(self, document: bytes) -> list[Release]:
        """Return a publication, with the degrees that release it, if it satisfies a subscription."""
        notification = self._codec.notification(document)
        satisfied, best = self._satisfied(notification.event, notification.values)
        if not satisfied:
            return []
        return [with_degrees(document, best, notification.valid)]

    def _satisfied(self, event: int, values: dict[int, Shape]) -> tuple[Collection[Subscription], Degrees]:
        """Return the subscriptions that these values satisfy, and the best degrees."""
        found = [
            (degrees, wanted)
            for wanted in self._held.values()
            if wanted.event == event and (degrees := wanted.judge(values)) is not None
        ]
        return [wanted for _, wanted in found], max((degrees for degrees, _ in found), default=(0, 0))


class AnnouncedFilter:
    """The filter of a source that advertises: it releases what an advertisement announces.

    A publication passes as a whole, or not at all. A reading may have more attributes than an advertisement;
    its advertised attributes pass, once per maximal set of them.
    """

    __slots__ = ("_codec", "_held", "_table")

    def __init__(self, table: MissionTable) -> None:
        self._table = table
        self._codec = AtopssCodec(table)
        self._held: dict[SubscriptionKey, Subscription] = {}

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add an advertisement. An invalid body raises `VectorError` and changes nothing."""
        self._held[key] = advertisement_in(body, self._codec)

    def remove(self, key: SubscriptionKey) -> None:
        self._held.pop(key, None)

    def feed(self, reading: Reading) -> list[Release]:
        """Return the notifications of this reading."""
        values = values_of_reading(reading, self._table) if self._held else {}
        found: dict[frozenset[int], Degrees] = {}
        for one in self._held.values():
            chosen = {at: shape for at, shape in values.items() if at in one.attributes}
            degrees = self._degrees(one, reading.event, self._codec.known(reading.event, chosen))
            if chosen and degrees is not None:
                named = frozenset(chosen)
                found[named] = max(degrees, found.get(named, (0, 0)))
        lifetime = lifetime_code(self._table.event_at(reading.event).notification_lifetime_s) if found else 0
        return [
            Release(
                encode_notification(
                    Notification(
                        number=reading.number,
                        valid=lifetime,
                        stamp_s=reading.stamp_s,
                        event=reading.event,
                        values={at: shape for at, shape in values.items() if at in named},
                        possibility=_fifteenths(best[0]),
                        necessity=_fifteenths(best[1]),
                    )
                ),
                byte_of(best[0]),
                lifetime,
            )
            for named, best in found.items()
            if not any(named < other for other in found)
        ]

    def offer(self, document: bytes) -> list[Release]:
        """Return a publication, with the degrees of the best advertisement that announces it."""
        notification = self._codec.notification(document)
        found = [
            degrees
            for one in self._held.values()
            if (degrees := self._degrees(one, notification.event, notification.values)) is not None
        ]
        return [with_degrees(document, max(found), notification.valid)] if found else []

    def _degrees(self, advertisement: Subscription, event: int, values: dict[int, Shape]) -> Degrees | None:
        """Return the degrees of advertised values; None if they are not announced."""
        if advertisement.event != event:
            return None
        if not lie_within(values, shapes_of(advertisement), self._codec.lengths(event)):
            return None
        about = tuple(leaf for leaf in advertisement.predicates if leaf.attribute in values)
        return (about and replace(advertisement, predicates=about).judge(values)) or (0, 0)


def _fifteenths(degree: int) -> int:
    return 15 * byte_of(degree) // BYTE_TOP
