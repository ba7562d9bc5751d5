"""The filter host of a source on a host: a watchdog behind two adapters for the numbers of subscribers.

The records of a watchdog have two bytes for an origin, as on boards, but node numbers have 31 bits. To most
filters an origin is only a key, so `ShortOrigins` assigns short ones. A filter whose notifications name their
subscriber needs the real number, and the number of its own node (`NamedSubscriptions`).
"""

from collections.abc import Mapping
from typing import Final

from dens.interfaces import FilterHost
from plugins.language import NamingFilter
from watchdog.watchdog import Watchdog

_SHORT: Final = 0x10000
MOST: Final = 16_384
"""Subscribers with a short origin, several times the number of filters that a publisher accepts. Beyond it
the least recent one loses its short origin; a filter that it still has is removed when it expires.
"""


class ShortOrigins:
    """A filter host that assigns an origin of two bytes to every subscriber.

    A number that fits is kept unless it is in use.
    """

    def __init__(self, host: FilterHost, most: int = MOST) -> None:
        self._host = host
        self._most = most
        self._short: dict[int, int] = {}
        self._taken: set[int] = set()
        self._next = _SHORT - 1

    def install(
        self, origin: int, id: int, seq: int, language: int, body: bytes, remaining_ms: int, now_ms: int
    ) -> int:
        return self._host.install(self._shorten(origin), id, seq, language, body, remaining_ms, now_ms)

    def remove(self, origin: int, id: int, seq: int, now_ms: int) -> object:
        return self._host.remove(self._shorten(origin), id, seq, now_ms)

    def _shorten(self, origin: int) -> int:
        short = self._short.pop(origin, None)
        if short is None:
            if len(self._short) >= self._most:
                self._taken.remove(self._short.pop(next(iter(self._short))))
            short = origin if origin < _SHORT and origin not in self._taken else self._free()
            self._taken.add(short)
        self._short[origin] = short  # the most recent one is the last
        return short

    def _free(self) -> int:
        """Return an unused short origin; a released one is reused after all others."""
        while self._next in self._taken:
            self._next = (self._next - 1) % _SHORT
        short = self._next
        self._next = (self._next - 1) % _SHORT
        return short


class NamedSubscriptions:
    """A filter host that announces the real origin of a subscription to filters that need it."""

    def __init__(self, host: FilterHost, filters: Mapping[int, NamingFilter]) -> None:
        self._host = host
        self._filters = filters

    def install(
        self, origin: int, id: int, seq: int, language: int, body: bytes, remaining_ms: int, now_ms: int
    ) -> int:
        if language in self._filters:
            self._filters[language].announce(origin, id, seq)
        return self._host.install(origin, id, seq, language, body, remaining_ms, now_ms)

    def remove(self, origin: int, id: int, seq: int, now_ms: int) -> object:
        return self._host.remove(origin, id, seq, now_ms)


def source_host(watchdog: Watchdog, node: int) -> FilterHost:
    """Return a watchdog of this node as the filter host of its publisher."""
    naming = {
        language: filter for language, filter in watchdog.filters.items() if isinstance(filter, NamingFilter)
    }
    for filter in naming.values():
        filter.introduce(node)
    return NamedSubscriptions(ShortOrigins(watchdog), naming)
