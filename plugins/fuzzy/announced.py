"""What an advertisement announces: notifications of its event that tell no other attributes than it names,
each value one that leaves the advertisement a chance to be satisfied.
"""

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.vectors import NotificationVector, SubscriptionVector, encode_notification
from plugins.language import SubscriptionKey
from watchdog.aggregators import ANY_ZERO_IS_ZERO, MIN
from watchdog.filter import Release
from watchdog.header import NO_HEADER
from watchdog.lifetime import lifetime_code
from watchdog.membership import degree
from watchdog.reading import Reading


def constraints_of(advertisement: SubscriptionVector) -> dict[int, tuple[int, int, int]]:
    """Return what is named for each attribute."""
    return dict(zip(advertisement.attributes, advertisement.constraints, strict=True))


def least_degree(advertisement: SubscriptionVector) -> int:
    """Return the degree that a value must have for an attribute, so that the whole may be satisfied."""
    if not ANY_ZERO_IS_ZERO >> advertisement.aggregator & 1:
        return 0
    return max(17 * advertisement.threshold, 1) if advertisement.aggregator == MIN else 1


def announced_degree(advertisement: SubscriptionVector, event: int, values: dict[int, int]) -> int | None:
    """Return the least degree of some values; None where they are not announced."""
    named = constraints_of(advertisement)
    if advertisement.event != event or not values or not values.keys() <= named.keys():
        return None
    found = min(degree(value, *named[attribute]) for attribute, value in values.items())
    return found if found >= least_degree(advertisement) else None


class AnnouncedFuzzyFilter:
    """The filter of a source that advertises: what a reading tells of the attributes that an advertisement
    names passes, once for each largest set of them.
    """

    __slots__ = ("_codec", "_held", "_table")

    def __init__(self, table: MissionTable) -> None:
        self._table = table
        self._codec = FuzzyCodec(table)
        self._held: dict[SubscriptionKey, SubscriptionVector] = {}

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Tell what this advertisement announces; a bad body raises `VectorError` and changes nothing."""
        self._held[key] = self._codec.subscription(NO_HEADER + body)

    def remove(self, key: SubscriptionKey) -> None:
        """Tell it no more; an unknown key changes nothing."""
        self._held.pop(key, None)

    def feed(self, reading: Reading) -> list[Release]:
        """Return the notifications that this reading is worth, most attributes first."""
        found: dict[frozenset[int], int] = {}
        for one in self._held.values():
            told = {at: reading.row[at] for at in one.attributes if reading.has(at)}
            best = announced_degree(one, reading.event, told)
            if best is not None:
                named = frozenset(told)
                found[named] = max(best, found.get(named, 0))
        largest = [named for named in found if not any(named < other for other in found)]
        return [
            self._release(reading, sorted(named), found[named])
            for named in sorted(largest, key=lambda one: (-len(one), sorted(one)))
        ]

    def _release(self, reading: Reading, attributes: list[int], best: int) -> Release:
        lifetime = lifetime_code(self._table.event_at(reading.event).notification_lifetime_s)
        told = NotificationVector(
            number=reading.number,
            valid=lifetime,
            stamp_s=reading.stamp_s,
            degree=best // 17,
            values=bytes(reading.row[at] for at in attributes),
            event=reading.event,
            attributes=tuple(attributes),
            feature_bytes=self._table.feature_bytes,
        )
        return Release(encode_notification(told), best, lifetime)
