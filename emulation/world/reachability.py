"""Who can talk: who is in range, up, and on the same side of every partition.

Range is geometry and comes from the contacts. Whether a device is up, and what cuts it off, are kept apart
from it here, so that a contact which lasts through a crash is taken up again.
"""


class Reachability:
    """Keeps what stands between devices, pair by pair."""

    def __init__(self) -> None:
        self.down: set[int] = set()
        """The devices that are down: they hear, say and measure nothing."""
        self._near: dict[int, dict[int, None]] = {}
        self._islands: list[frozenset[int]] = []

    def near(self, a: int, b: int) -> None:
        """They are in range from now on."""
        self._near.setdefault(a, {})[b] = None
        self._near.setdefault(b, {})[a] = None

    def far(self, a: int, b: int) -> None:
        """They are not in range any more."""
        del self._near[a][b], self._near[b][a]

    def neighbours(self, device: int) -> list[int]:
        """Return who is in range, whether it can be reached or not."""
        return list(self._near.get(device, ()))

    def cut_off(self, island: frozenset[int]) -> None:
        """Let these reach nobody but each other."""
        self._islands.append(island)

    def join(self, island: frozenset[int]) -> None:
        """Take one such partition back."""
        self._islands.remove(island)

    def can_talk(self, a: int, b: int) -> bool:
        """Return whether nothing stands between two devices that are in range."""
        if a in self.down or b in self.down:
            return False
        return all((a in island) == (b in island) for island in self._islands)

    def pairs(self) -> list[tuple[int, int]]:
        """Return everybody who is in range of each other."""
        return [(a, b) for a, others in self._near.items() for b in others if a < b]

    def talking(self) -> list[tuple[int, int]]:
        """Return everybody who is in range of each other with nothing between them."""
        return [pair for pair in self.pairs() if self.can_talk(*pair)]
