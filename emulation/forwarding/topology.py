"""The known topology: which links everybody believes there are."""

from collections.abc import Collection, Iterable


class KnownTopology:
    """The links between devices as they are known, to all alike.

    >>> known = KnownTopology(4)
    >>> known.change(0, 2, True)
    >>> known.change(1, 2, True)
    >>> sorted(known.neighbours(2)), known.distances(0)
    ([0, 1], {0: 0, 2: 1, 1: 2})
    """

    def __init__(self, devices: int) -> None:
        self._neighbours: list[set[int]] = [set() for _ in range(devices)]

    def neighbours(self, device: int) -> Collection[int]:
        """Return who is known to be in range of a device."""
        return self._neighbours[device]

    def change(self, a: int, b: int, is_up: bool) -> None:
        """Let a link be known from now on, or be known to be gone."""
        if is_up:
            self._neighbours[a].add(b)
            self._neighbours[b].add(a)
        else:
            self._neighbours[a].discard(b)
            self._neighbours[b].discard(a)

    def beyond(self, devices: Iterable[int], seen: Collection[int]) -> list[int]:
        """Return the neighbours of these devices that were not seen yet, each once."""
        found: dict[int, None] = {}
        for device in devices:
            for neighbour in self._neighbours[device]:
                if neighbour not in seen:
                    found[neighbour] = None
        return list(found)

    def distances(self, device: int) -> dict[int, int]:
        """Return the hops between a device and every other that there is a way to."""
        hops = 0
        found = {device: 0}
        level = [device]
        while level:
            hops += 1
            level = self.beyond(level, found)
            for reached in level:
                found[reached] = hops
        return found
