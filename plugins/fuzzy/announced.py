"""Meaning of an advertisement: it announces notifications of its event with no other attributes than its own,
and with values that can satisfy it.
"""

from knowledge_manager.mission_table import MissionTable
from plugins.board_vectors import NotificationVector, SubscriptionBody, encode_notification
from plugins.fuzzy.codec import FuzzyCodec
from plugins.language import SubscriptionKey
from watchdog.aggregators import ANY_ZERO_IS_ZERO, MIN
from watchdog.lifetime import lifetime_code
from watchdog.membership import degree
from watchdog.reading import Reading, Release


def constraints_of(advertisement: SubscriptionBody) -> dict[int, tuple[int, int, int]]:
    """Return the constraint of each attribute."""
    return dict(zip(advertisement.attributes, advertisement.constraints, strict=True))


def least_degree(advertisement: SubscriptionBody) -> int:
    """Return the minimum degree of one attribute's value so that the whole can be satisfied."""
    if not ANY_ZERO_IS_ZERO >> advertisement.aggregator & 1:
        return 0
    return max(17 * advertisement.threshold, 1) if advertisement.aggregator == MIN else 1


def announced_degree(advertisement: SubscriptionBody, event: int, values: dict[int, int]) -> int | None:
    """Return the least degree of some values, or None if they are not announced."""
    named = constraints_of(advertisement)
    if advertisement.event != event or not values or not values.keys() <= named.keys():
        return None
    found = min(degree(value, *named[attribute]) for attribute, value in values.items())
    return found if found >= least_degree(advertisement) else None


class AnnouncedFuzzyFilter:
    """The filter of a source that advertises: it releases the values of advertised attributes, once per
    maximal set of them.
    """

    __slots__ = ("_codec", "_held", "_table")

    def __init__(self, table: MissionTable) -> None:
        self._table = table
        self._codec = FuzzyCodec(table)
        self._held: dict[SubscriptionKey, SubscriptionBody] = {}

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add an advertisement. An invalid body raises `VectorError` and changes nothing."""
        self._held[key] = self._codec.subscription(body)

    def remove(self, key: SubscriptionKey) -> None:
        self._held.pop(key, None)

    def feed(self, reading: Reading) -> list[Release]:
        """Return the notifications of this reading, most attributes first."""
        found: dict[frozenset[int], int] = {}
        for one in self._held.values():
            values = {at: reading.row[at] for at in one.attributes if reading.has(at)}
            best = announced_degree(one, reading.event, values)
            if best is not None:
                named = frozenset(values)
                found[named] = max(best, found.get(named, 0))
        largest = [named for named in found if not any(named < other for other in found)]
        return [
            self._release(reading, sorted(named), found[named])
            for named in sorted(largest, key=lambda one: (-len(one), sorted(one)))
        ]

    def _release(self, reading: Reading, attributes: list[int], best: int) -> Release:
        lifetime = lifetime_code(self._table.event_at(reading.event).notification_lifetime_s)
        notification = NotificationVector(
            number=reading.number,
            valid=lifetime,
            stamp_s=reading.stamp_s,
            degree=best // 17,
            values=bytes(reading.row[at] for at in attributes),
            event=reading.event,
            attributes=tuple(attributes),
            feature_bytes=self._table.feature_bytes,
        )
        return Release(encode_notification(notification), best, lifetime)
