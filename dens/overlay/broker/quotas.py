"""What one neighbour may make a broker keep: a share of a table, so that there is room for the others."""

from collections.abc import Hashable
from typing import Generic, TypeVar

from dens.overlay.limits import Limits

Key = TypeVar("Key", bound=Hashable)


class Quota(Generic[Key]):
    """Who brought what stands in a table, and how much each may bring."""

    __slots__ = ("_bringers", "_brought", "most", "share")

    def __init__(self, most: int, limits: Limits) -> None:
        self.most = most
        self.share = max(1, most * limits.origin_share_percent // 100)
        self._bringers: dict[Key, int] = {}
        self._brought: dict[int, int] = {}

    def has_room(self, bringer: int) -> bool:
        """Return whether one more may come from this neighbour."""
        return len(self._bringers) < self.most and self._brought.get(bringer, 0) < self.share

    def note(self, key: Key, bringer: int) -> None:
        """Count something, in place of what was counted under its key."""
        self.forget(key)
        self._bringers[key] = bringer
        self._brought[bringer] = self._brought.get(bringer, 0) + 1

    def forget(self, key: Key) -> None:
        """Count it no longer; an unknown key changes nothing."""
        bringer = self._bringers.pop(key, None)
        if bringer is not None:
            self._brought[bringer] -= 1
            if not self._brought[bringer]:
                del self._brought[bringer]
