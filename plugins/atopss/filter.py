"""Filter at the source: the matcher's arithmetic on what the source knows."""

from collections.abc import Collection
from dataclasses import replace

from knowledge_manager.mission_table import MissionTable
from plugins.atopss.announced import advertisement_in, lie_within, shapes_of
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.degrees import Degrees
from plugins.atopss.shapes.scale import BYTE_TOP, byte_of
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Subscription
from plugins.atopss.told_values import values_of_reading
from plugins.atopss.vectors import encode_notification
from plugins.language import Release, SubscriptionKey
from watchdog.lifetime import lifetime_code
from watchdog.reading import Reading

DEGREES_AT = 5
"""Where in a notification the degrees stand with which it was released."""


def with_degrees(document: bytes, best: Degrees, lifetime: int) -> Release:
    """Return the release of a publication, with these degrees written into it."""
    degrees = bytes([_fifteenths(best[0]) << 4 | _fifteenths(best[1])])
    return Release(document[:DEGREES_AT] + degrees + document[DEGREES_AT + 1 :], byte_of(best[0]), lifetime)


class AtopssFilter:
    """Lets a reading pass, once, when it satisfies a subscription; told are the attributes that any satisfied
    one names.

    Whoever installs fewer subscriptions than there are, because one stands for others, must have sources tell
    whole readings (`is_whole`): one that covers another may name fewer attributes.
    """

    __slots__ = ("_codec", "_held", "_is_whole", "_table")

    def __init__(self, table: MissionTable, *, is_whole: bool = False) -> None:
        self._table = table
        self._codec = AtopssCodec(table)
        self._held: dict[SubscriptionKey, Subscription] = {}
        self._is_whole = is_whole

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Start to look for this subscription; a bad body raises `VectorError` and changes nothing."""
        self._held[key] = self._codec.subscription(body)

    def remove(self, key: SubscriptionKey) -> None:
        """Stop looking for it; an unknown key is no error."""
        self._held.pop(key, None)

    def feed(self, reading: Reading) -> list[Release]:
        """Return the one notification that this reading is worth, or none."""
        values = values_of_reading(reading, self._table) if self._held else {}
        if not values:
            return []
        satisfied, best = self._satisfied(reading.event, self._codec.known(reading.event, values))
        if not satisfied:
            return []
        named = set(values) if self._is_whole else {at for one in satisfied for at in one.attributes}
        lifetime = lifetime_code(self._table.event_at(reading.event).notification_lifetime_s)
        told = Notification(
            number=reading.number,
            valid=lifetime,
            stamp_s=reading.stamp_s,
            event=reading.event,
            values={at: shape for at, shape in values.items() if at in named},
            possibility=_fifteenths(best[0]),
            necessity=_fifteenths(best[1]),
        )
        return [Release(encode_notification(told), byte_of(best[0]), lifetime)]

    def offer(self, document: bytes) -> list[Release]:
        """Return a publication, with the degrees that release it, where it satisfies a subscription."""
        told = self._codec.notification(document)
        satisfied, best = self._satisfied(told.event, told.values)
        if not satisfied:
            return []
        return [with_degrees(document, best, told.valid)]

    def _satisfied(self, event: int, values: dict[int, Shape]) -> tuple[Collection[Subscription], Degrees]:
        """Return the subscriptions that these values satisfy, and the best degrees of one."""
        found = [
            (degrees, wanted)
            for wanted in self._held.values()
            if wanted.event == event and (degrees := wanted.judge(values)) is not None
        ]
        return [wanted for _, wanted in found], max((degrees for degrees, _ in found), default=(0, 0))


class AnnouncedFilter:
    """The filter of a source that advertises: it lets pass what an advertisement announces.

    A publication passes whole, or not at all. A reading may tell more than an advertisement names; what it
    tells of the named attributes passes, once for each largest set of them.
    """

    __slots__ = ("_codec", "_held", "_table")

    def __init__(self, table: MissionTable) -> None:
        self._table = table
        self._codec = AtopssCodec(table)
        self._held: dict[SubscriptionKey, Subscription] = {}

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Tell what this advertisement announces; a bad body raises `VectorError` and changes nothing."""
        self._held[key] = advertisement_in(body, self._codec)

    def remove(self, key: SubscriptionKey) -> None:
        """Tell it no more; an unknown key changes nothing."""
        self._held.pop(key, None)

    def feed(self, reading: Reading) -> list[Release]:
        """Return the notifications that this reading is worth."""
        values = values_of_reading(reading, self._table) if self._held else {}
        found: dict[frozenset[int], Degrees] = {}
        for one in self._held.values():
            told = {at: shape for at, shape in values.items() if at in one.attributes}
            degrees = self._degrees(one, reading.event, self._codec.known(reading.event, told))
            if told and degrees is not None:
                named = frozenset(told)
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
        told = self._codec.notification(document)
        found = [
            degrees
            for one in self._held.values()
            if (degrees := self._degrees(one, told.event, told.values)) is not None
        ]
        return [with_degrees(document, max(found), told.valid)] if found else []

    def _degrees(self, advertisement: Subscription, event: int, told: dict[int, Shape]) -> Degrees | None:
        """Return to which degrees some values satisfy what is named for them; None where they are not
        announced.
        """
        if advertisement.event != event:
            return None
        if not lie_within(told, shapes_of(advertisement), self._codec.lengths(event)):
            return None
        about = tuple(leaf for leaf in advertisement.predicates if leaf.attribute in told)
        return (about and replace(advertisement, predicates=about).judge(told)) or (0, 0)


def _fifteenths(degree: int) -> int:
    return 15 * byte_of(degree) // BYTE_TOP
