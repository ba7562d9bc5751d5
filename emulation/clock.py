"""Simulated time: whole milliseconds, and what happens in each of them in a fixed order.

Things due in the same millisecond happen by rank, and within a rank in the order in which they were asked
for, so a run never depends on anything but its scenario and seed. The ranks put creations first, then
frames that arrive, then contacts that open, and contacts that end last: whatever could still be used is
used. Engines are state machines that are called, not processes that wait, so a heap is all that is needed.
"""

from collections.abc import Callable
from enum import IntEnum
from heapq import heappop, heappush


class Rank(IntEnum):
    """What goes first within one millisecond."""

    APPLICATION = 0
    """An application asks or a sensor reads."""
    ARRIVAL = 1
    """The last byte of a frame is there."""
    CONTACT_OPENED = 2
    """Two nodes can talk from now on."""
    TIMER = 3
    """An engine asked to be woken."""
    CONTACT_LOST = 4
    """Two nodes cannot talk any more."""


class Clock:
    """The queue of things to happen. `now_ms` is the current millisecond, for others to read only."""

    __slots__ = ("_asked", "_queue", "now_ms")

    def __init__(self) -> None:
        self.now_ms = 0
        self._asked = 0
        self._queue: list[tuple[int, int, int, Callable[[], None]]] = []

    def call_at(self, at_ms: int, rank: Rank, action: Callable[[], None]) -> None:
        """Let this happen at that time; a time in the past means now."""
        self._asked += 1
        heappush(self._queue, (max(at_ms, self.now_ms), rank, self._asked, action))

    def run_until(self, at_ms: int) -> None:
        """Let everything happen that is due before this millisecond; afterwards it is `now_ms`."""
        queue = self._queue
        while queue and queue[0][0] < at_ms:
            self.now_ms, _, _, action = heappop(queue)
            action()
        self.now_ms = max(self.now_ms, at_ms)
