"""Send queue of a session: by priority, and fair between origins of equal priority.

Every origin gets its turn, byte for byte: the turn of a message begins where the last one of its origin
ended, or now (start-time fair queueing, Goyal, Vin and Cheng, 1996). So an origin that floods delays itself,
not others.
"""

from heapq import heapify, heappop, heappush

from dens.overlay.wire.item import NUMBER_BITS, ItemId
from dens.overlay.wire.summary import Summary


class SendQueue:
    """Ids and types of messages that wait for transmission. A lower priority number goes first."""

    __slots__ = ("_entries", "_ids", "_order", "_origin_turns", "_turn")

    def __init__(self) -> None:
        self._entries: list[tuple[int, int, int, ItemId, int]] = []
        """A heap of priority, turn, order of arrival, message and type."""
        self._ids: set[ItemId] = set()
        self._order = 0
        self._turn = 0
        self._origin_turns: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, item_id: ItemId) -> bool:
        return item_id in self._ids

    def add(self, priority: int, item_id: ItemId, type: int, size: int) -> None:
        """Append a message; `size` determines when its origin has its next turn."""
        self._ids.add(item_id)
        self._order += 1
        turn, turns, origin = self._turn, self._origin_turns, item_id >> NUMBER_BITS
        if origin in turns and turns[origin] > turn:
            turn = turns[origin]
        turns[origin] = turn + size
        heappush(self._entries, (priority, turn, self._order, item_id, type))

    def head(self) -> tuple[ItemId, int] | None:
        """Return the most urgent message and its type, or None."""
        if not self._entries:
            return None
        _, _, _, item_id, type = self._entries[0]
        return item_id, type

    def pop(self) -> None:
        """Remove the most urgent message, which takes its turn."""
        _, self._turn, _, item_id, _ = heappop(self._entries)
        self._ids.discard(item_id)
        if not self._entries:
            self._origin_turns.clear()
            self._turn = 0

    def discard_head(self) -> None:
        """Remove the most urgent message without a turn: the peer does not need it."""
        _, _, _, item_id, _ = heappop(self._entries)
        self._ids.discard(item_id)

    def discard_known(self, known: Summary) -> None:
        """Remove the messages that a summary names."""
        if self._entries:
            self._entries = [entry for entry in self._entries if entry[3] not in known]
            self._ids = {entry[3] for entry in self._entries}
            heapify(self._entries)
