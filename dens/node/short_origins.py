"""Origins of 31 bits for a watchdog whose records have two bytes for them, as on boards.

To a watchdog an origin is only a name by which it finds a subscription again, so another name does as well.
Whoever has a number that fits keeps it while nobody else goes by it.
"""

from typing import Final

from dens.interfaces import FilterHost

_SHORT: Final = 0x10000
MOST: Final = 16_384
"""So many subscribers have names, several times as many as a publisher takes filters. Of more, the one of
which nothing was heard for longest loses its own; a filter of its that is still there goes when it expires.
"""


class ShortOrigins:
    """A filter host that gives every subscriber a name of two bytes."""

    def __init__(self, host: FilterHost, most: int = MOST) -> None:
        self._host = host
        self._most = most
        self._names: dict[int, int] = {}
        self._taken: set[int] = set()
        self._next = _SHORT - 1

    def install(
        self, origin: int, id: int, seq: int, language: int, body: bytes, remaining_ms: int, now_ms: int
    ) -> int:
        """Look for this subscription, under its subscriber's name."""
        return self._host.install(self._name(origin), id, seq, language, body, remaining_ms, now_ms)

    def remove(self, origin: int, id: int, seq: int, now_ms: int) -> object:
        """Stop looking for it."""
        return self._host.remove(self._name(origin), id, seq, now_ms)

    def _name(self, origin: int) -> int:
        name = self._names.pop(origin, None)
        if name is None:
            if len(self._names) >= self._most:
                self._taken.remove(self._names.pop(next(iter(self._names))))
            name = origin if origin < _SHORT and origin not in self._taken else self._free_name()
            self._taken.add(name)
        self._names[origin] = name  # the last one heard of is the last one in it
        return name

    def _free_name(self) -> int:
        """Return a name that nobody goes by; one that was given back comes again after all others."""
        while self._next in self._taken:
            self._next = (self._next - 1) % _SHORT
        name = self._next
        self._next = (self._next - 1) % _SHORT
        return name
