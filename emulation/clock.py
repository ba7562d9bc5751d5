"""Simulated time: whole milliseconds, and what happens in each of them in a fixed order.

SimPy keeps the queue. Things due in the same millisecond happen by rank, and within a rank in the order
in which they were asked for (timers by the number of their node), so a run never depends on anything but its
scenario and seed. The ranks put creations first, then frames that arrive, then contacts that open, and
contacts that end last: whatever could still be used is used.
"""

from collections.abc import Callable
from enum import IntEnum
from heapq import heappop, heappush
from typing import Any, Final

import simpy

from dens.numbers import LAST_NODE

_NODES: Final = LAST_NODE + 1
"""Nodes have numbers below this."""


class Rank(IntEnum):
    """What goes first within one millisecond. 0 is SimPy's own, for the end of `run_until`."""

    APPLICATION = 1
    """An application asks or a sensor reads."""
    ARRIVAL = 2
    """The last byte of a frame is there."""
    CONTACT_OPENED = 3
    """Two nodes can talk from now on."""
    TIMER = 4
    """An engine asked to be woken. Of several that one goes first whose node has the lower number, however
    often each was woken for nothing before: `wake_at`."""
    CONTACT_LOST = 5
    """Two nodes cannot talk any more."""


_TIMER: Final = float(Rank.TIMER)


def _happen(event: simpy.Event) -> None:
    assert isinstance(event, _Call)
    event.action(*event.arguments)


_CALLBACKS: Final[list[Callable[[simpy.Event], None]]] = [_happen]


class _Call(simpy.Event):
    """Something that was asked to happen. Nobody waits for it, so it is born triggered, and all of them share
    what SimPy calls when its time comes."""

    _ok = True
    _value = None

    def __init__(self, action: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        self.callbacks = _CALLBACKS
        self.action = action
        self.arguments = arguments


class Clock(simpy.Environment):
    """The queue of things to happen. `now_ms` is the current millisecond.

    What it queues are SimPy's events in SimPy's queue; as nothing waits for any of them, `schedule` and
    `step` are done in place: a run takes a step for every frame and every timer.
    """

    def __init__(self) -> None:
        super().__init__(initial_time=0)
        self.now_ms = 0
        self._calls: list[Any] = self._queue
        """SimPy's queue, which has but calls in it."""

    def call_at(self, at_ms: int, rank: Rank, action: Callable[..., None], *arguments: Any) -> None:
        """Let this happen at that time, with these arguments; a time in the past means now."""
        if at_ms < self.now_ms:
            at_ms = self.now_ms
        heappush(self._calls, (at_ms, rank, next(self._eid), _Call(action, arguments)))

    def wake_at(self, at_ms: int, node: int, action: Callable[..., None], *arguments: Any) -> None:
        """Let a node's timer happen at that time, which is not in the past."""
        heappush(self._calls, (at_ms, _TIMER + node / _NODES, next(self._eid), _Call(action, arguments)))

    def interrupt(self, raises: Callable[[], None]) -> None:
        """Let this happen next, which raises: between two calls, so that nothing is left half done."""
        heappush(self._calls, (self.now_ms, 0, next(self._eid), _Call(raises, ())))

    def run_until(self, at_ms: int) -> None:
        """Let everything happen that is due before this millisecond; afterwards it is `now_ms`."""
        queue = self._calls
        while queue and queue[0][0] < at_ms:
            due_ms, _, _, event = heappop(queue)
            self._now = self.now_ms = due_ms
            event.action(*event.arguments)
        if at_ms > self.now_ms:
            self._now = self.now_ms = at_ms
