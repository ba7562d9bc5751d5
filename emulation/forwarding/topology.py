"""The known topology: the links that all devices believe in."""

from collections.abc import Collection, Iterable


class KnownTopology:
    """The known links, the same for all devices.

    >>> known = KnownTopology(4)
    >>> known.change(0, 2, True)
    >>> known.change(1, 2, True)
    >>> sorted(known.neighbours(2)), known.distances(0)
    ([0, 1], {0: 0, 2: 1, 1: 2})
    """

    def __init__(self, devices: int) -> None:
        self._neighbours: list[set[int]] = [set() for _ in range(devices)]

    def neighbours(self, device: int) -> Collection[int]:
        """Return the known neighbours of a device."""
        return self._neighbours[device]

    def change(self, a: int, b: int, is_up: bool) -> None:
        """Add or remove a link."""
        if is_up:
            self._neighbours[a].add(b)
            self._neighbours[b].add(a)
        else:
            self._neighbours[a].discard(b)
            self._neighbours[b].discard(a)

    def beyond(self, devices: Iterable[int], seen: Collection[int]) -> list[int]:
        """Return the neighbours of these devices that are not in `seen`, each once."""
        found: dict[int, None] = {}
        for device in devices:
            for neighbour in self._neighbours[device]:
                if neighbour not in seen:
                    found[neighbour] = None
        return list(found)

    def distances(self, device: int) -> dict[int, int]:
        """Return the hops from a device to every device that is reachable."""
        hops = 0
        found = {device: 0}
        level = [device]
        while level:
            hops += 1
            level = self.beyond(level, found)
            for reached in level:
                found[reached] = hops
        return found
