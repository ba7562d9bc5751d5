"""Reachability of devices: in range, up, and not separated by a partition.

Range comes from the contacts. Crashes and partitions are kept separately, so that a contact that outlasts a
crash is resumed.
"""


class Reachability:
    """Pairs in range, devices that are down, and partitions."""

    def __init__(self) -> None:
        self.down: set[int] = set()
        """The devices that are down."""
        self._near: dict[int, dict[int, None]] = {}
        self._islands: list[frozenset[int]] = []

    def near(self, a: int, b: int) -> None:
        """Two devices come into range."""
        self._near.setdefault(a, {})[b] = None
        self._near.setdefault(b, {})[a] = None

    def far(self, a: int, b: int) -> None:
        """Two devices go out of range."""
        del self._near[a][b], self._near[b][a]

    def neighbours(self, device: int) -> list[int]:
        """Return the devices in range, reachable or not."""
        return list(self._near.get(device, ()))

    def cut_off(self, island: frozenset[int]) -> None:
        """Separate these devices from all others."""
        self._islands.append(island)

    def join(self, island: frozenset[int]) -> None:
        """End a partition."""
        self._islands.remove(island)

    def can_talk(self, a: int, b: int) -> bool:
        """Return whether two devices in range are both up and not separated."""
        if a in self.down or b in self.down:
            return False
        return all((a in island) == (b in island) for island in self._islands)

    def pairs(self) -> list[tuple[int, int]]:
        """Return all pairs in range."""
        return [(a, b) for a, others in self._near.items() for b in others if a < b]

    def talking(self) -> list[tuple[int, int]]:
        """Return all pairs in range that can communicate."""
        return [pair for pair in self.pairs() if self.can_talk(*pair)]
