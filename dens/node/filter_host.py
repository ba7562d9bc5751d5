"""The filter host of a source that is no board: a watchdog, with subscribers named as it can hold them.

Most filters only have to find a subscription again, and any name does (dens/node/short_origins.py). A filter
whose notifications say for whom they are has to know who that is, and whose readings it is fed.
"""

from collections.abc import Mapping

from dens.interfaces import FilterHost
from dens.node.short_origins import ShortOrigins
from plugins.language import NamingFilter
from watchdog.watchdog import Watchdog


class NamedSubscriptions:
    """A filter host that tells such filters whose subscription comes."""

    def __init__(self, host: FilterHost, filters: Mapping[int, NamingFilter]) -> None:
        self._host = host
        self._filters = filters

    def install(
        self, origin: int, id: int, seq: int, language: int, body: bytes, remaining_ms: int, now_ms: int
    ) -> int:
        """Look for this subscription."""
        if language in self._filters:
            self._filters[language].announce(origin, id, seq)
        return self._host.install(origin, id, seq, language, body, remaining_ms, now_ms)

    def remove(self, origin: int, id: int, seq: int, now_ms: int) -> object:
        """Stop looking for it."""
        return self._host.remove(origin, id, seq, now_ms)


def source_host(watchdog: Watchdog, node: int) -> FilterHost:
    """Return a watchdog as the overlay installs subscriptions at it, on this node."""
    naming = {
        language: filter for language, filter in watchdog.filters.items() if isinstance(filter, NamingFilter)
    }
    for filter in naming.values():
        filter.introduce(node)
    return NamedSubscriptions(ShortOrigins(watchdog), naming)
