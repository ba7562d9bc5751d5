"""Which notifications a broker holds, for whom, and how long it waits for a receiver that is not in contact.

A notification is *open* while further receivers may appear: a JOIN, a subscription or a tree that comes in
time adds them. It is open for one patience where it has no receiver when it comes, and where it comes within
one patience after a start.
"""

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from dens.overlay.wire.item import NEVER_MS, ItemId


class _Held:
    """One notification: who gave it, who lacks it, whether a receiver has it."""

    __slots__ = ("giver", "is_handed", "lacking")

    def __init__(self, lacking: set[int], giver: int | None) -> None:
        self.lacking = lacking
        self.giver = giver
        self.is_handed = False


class Custody:
    """The neighbours that have not acknowledged a notification yet."""

    __slots__ = ("_due", "_held", "_open", "_patience_ms")

    def __init__(self, patience_ms: int) -> None:
        self._patience_ms = patience_ms
        self._held: dict[ItemId, _Held] = {}
        self._open: dict[ItemId, None] = {}
        self._due: list[tuple[int, ItemId]] = []

    def begin(
        self, item_id: ItemId, receivers: Iterable[int], giver: int | None, is_open: bool, now_ms: int
    ) -> None:
        """Hold a notification for these neighbours, and, where it is open, for later ones."""
        self._held[item_id] = _Held(set(receivers), giver)
        if is_open:
            self._open[item_id] = None
        self.wait(item_id, now_ms)

    def wait(self, item_id: ItemId, now_ms: int) -> None:
        """Check it again when the patience is over."""
        heappush(self._due, (now_ms + self._patience_ms, item_id))

    def lacking(self, item_id: ItemId) -> set[int]:
        """Return who lacks it still."""
        held = self._held.get(item_id)
        return set() if held is None else held.lacking

    def lacked_by(self, neighbour: int) -> list[ItemId]:
        """Return what a neighbour lacks still, in the order in which it came."""
        return [item_id for item_id, held in self._held.items() if neighbour in held.lacking]

    def also_for(self, neighbour: int) -> None:
        """Hold everything that is held for this neighbour too."""
        for held in self._held.values():
            if neighbour != held.giver:
                held.lacking.add(neighbour)

    def open(self) -> Iterator[ItemId]:
        """Yield what is open, in the order in which it came."""
        yield from self._open

    def is_open(self, item_id: ItemId) -> bool:
        """Return whether further receivers may appear."""
        return item_id in self._open

    def close(self, item_id: ItemId) -> None:
        """Expect no further receivers."""
        self._open.pop(item_id, None)

    def add(self, item_id: ItemId, receivers: Iterable[int]) -> bool:
        """Hold it for these neighbours too, its giver apart; return whether one of them is new."""
        held = self._held[item_id]
        more = set(receivers) - held.lacking - {held.giver}
        held.lacking |= more
        return bool(more)

    def has(self, item_id: ItemId, neighbour: int) -> None:
        """Note that a neighbour has it."""
        self.lacking(item_id).discard(neighbour)
        self.handed(item_id)

    def handed(self, item_id: ItemId) -> None:
        """Note that a receiver has it, a neighbour or an end."""
        held = self._held.get(item_id)
        if held is not None:
            held.is_handed = True

    def is_handed(self, item_id: ItemId) -> bool:
        """Return whether a receiver has it."""
        held = self._held.get(item_id)
        return held is not None and held.is_handed

    def give_up(self, item_id: ItemId, neighbour: int) -> None:
        """Wait for this neighbour no longer."""
        self.lacking(item_id).discard(neighbour)

    def forget(self, item_id: ItemId) -> None:
        """Hold it no longer."""
        self._held.pop(item_id, None)
        self._open.pop(item_id, None)

    @property
    def due_ms(self) -> int:
        """Return when patience is over with something."""
        due = self._due
        while due and due[0][1] not in self._held:
            heappop(due)
        return due[0][0] if due else NEVER_MS

    def pop_due(self, now_ms: int) -> ItemId | None:
        """Return a notification with which patience is over, or None."""
        return heappop(self._due)[1] if self.due_ms <= now_ms else None
