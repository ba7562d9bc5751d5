"""Which notifications a broker holds, for whom, and how long it waits for somebody who is not in contact."""

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Final

from dens.item import NEVER_MS, ItemId

WHOEVER: Final = -1
"""Whom a notification of an earlier life is for where that is not known: whoever comes in time."""


class Handing:
    """The neighbours that have not acknowledged a notification yet."""

    __slots__ = ("_due", "_lacking", "_patience_ms")

    def __init__(self, patience_ms: int) -> None:
        self._patience_ms = patience_ms
        self._lacking: dict[ItemId, set[int]] = {}
        self._due: list[tuple[int, ItemId]] = []

    def begin(self, item_id: ItemId, receivers: Iterable[int], now_ms: int) -> None:
        """Hold a notification for these neighbours."""
        self._lacking[item_id] = set(receivers)
        self.wait(item_id, now_ms)

    def wait(self, item_id: ItemId, now_ms: int) -> None:
        """Look after it again when the patience is over."""
        heappush(self._due, (now_ms + self._patience_ms, item_id))

    def lacking(self, item_id: ItemId) -> set[int]:
        """Return who lacks it still."""
        return self._lacking.get(item_id, set())

    def lacked_by(self, neighbour: int) -> list[ItemId]:
        """Return what a neighbour lacks still, in the order in which it came."""
        return [item_id for item_id, who in self._lacking.items() if neighbour in who]

    def also_for(self, neighbour: int) -> None:
        """Hold everything that is held for this neighbour too."""
        for who in self._lacking.values():
            who.add(neighbour)

    def has(self, item_id: ItemId, neighbour: int) -> None:
        """Note that a neighbour has it, or is given up."""
        self.lacking(item_id).discard(neighbour)

    def forget(self, item_id: ItemId) -> None:
        """Hold it no longer."""
        self._lacking.pop(item_id, None)

    @property
    def due_ms(self) -> int:
        """Return when patience is over with something."""
        due = self._due
        while due and due[0][1] not in self._lacking:
            heappop(due)
        return due[0][0] if due else NEVER_MS

    def pop_due(self, now_ms: int) -> ItemId | None:
        """Return a notification with which patience is over, or None."""
        return heappop(self._due)[1] if self.due_ms <= now_ms else None
