"""Simulated time: whole milliseconds, and what happens in each of them in a fixed order.

SimPy keeps the queue. Things due in the same millisecond happen by rank, and within a rank in the order
in which they were asked for (timers by the number of their node), so a run never depends on anything but its
scenario and seed. The ranks put creations first, then frames that arrive, then contacts that open, and
contacts that end last: whatever could still be used is used.

Mostly the queue has nothing in it but a run's own calls. A run may be put into an environment of somebody
else, whose processes then live beside it, in one queue and one time.
"""

from collections.abc import Callable
from enum import IntEnum
from heapq import heappop, heappush
from math import ceil
from typing import Any, Final

import simpy

from dens.overlay.wire.codes import LAST_NODE

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


_Callbacks = list[Callable[[simpy.Event], None]]


class _Call(simpy.Event):
    """Something that was asked to happen. Nobody waits for it, so it is born triggered, and all of a clock
    share what SimPy calls when its time comes."""

    _ok = True
    _value = None

    def __init__(
        self, callbacks: _Callbacks, action: Callable[..., None], arguments: tuple[Any, ...]
    ) -> None:
        self.callbacks = callbacks
        self.action = action
        self.arguments = arguments


class Clock(simpy.Environment):
    """The queue of things to happen. `now_ms` is the current millisecond.

    What it queues are SimPy's events in SimPy's queue; as nothing waits for any of them, `schedule` and
    `step` are done in place: a run takes a step for every frame and every timer. In an environment of
    somebody else it is SimPy that steps. There a millisecond of ours is one unit of its time, and what others
    do within a millisecond happens for us at its end.
    """

    def __init__(self, environment: simpy.Environment | None = None) -> None:
        super().__init__(initial_time=0)
        if environment is not None and environment.now != 0:
            raise ValueError(f"the environment is at {environment.now}; a run begins at 0")
        self.now_ms = 0
        self._others = environment
        self._callbacks: _Callbacks = [self._happen]
        self._due: simpy.Event | None = None
        """What is stepped to, in an environment of somebody else."""
        if environment is not None:
            self._queue, self._eid = environment._queue, environment._eid
        self._calls: list[Any] = self._queue
        """SimPy's queue, which has but calls in it, unless there are others."""

    def call_at(self, at_ms: int, rank: Rank, action: Callable[..., None], *arguments: Any) -> None:
        """Let this happen at that time, with these arguments; a time in the past means now."""
        if at_ms < self.now_ms:
            at_ms = self.now_ms
        heappush(self._calls, (at_ms, rank, next(self._eid), _Call(self._callbacks, action, arguments)))

    def wake_at(self, at_ms: int, node: int, action: Callable[..., None], *arguments: Any) -> None:
        """Let a node's timer happen at that time, which is not in the past."""
        call = _Call(self._callbacks, action, arguments)
        heappush(self._calls, (at_ms, _TIMER + node / _NODES, next(self._eid), call))

    def interrupt(self, raises: Callable[[], None]) -> None:
        """Let this happen next, which raises: between two calls, so that nothing is left half done."""
        heappush(self._calls, (self.now_ms, 0, next(self._eid), _Call(self._callbacks, raises, ())))

    def run_until(self, at_ms: int) -> None:
        """Let everything happen that is due before this millisecond; afterwards it is `now_ms`."""
        queue = self._calls
        if self._others is not None:
            while queue and queue[0][0] < at_ms:
                self.now_ms = ceil(queue[0][0])
                self._due = queue[0][3]
                self._others.step()
            if at_ms > self._others.now:
                self._others._now = self.now_ms = at_ms
            return
        while queue and queue[0][0] < at_ms:
            due_ms, _, _, event = heappop(queue)
            self._now = self.now_ms = due_ms
            event.action(*event.arguments)
        if at_ms > self.now_ms:
            self._now = self.now_ms = at_ms

    def _happen(self, event: simpy.Event) -> None:
        """Let a call happen that SimPy steps to. Our time goes on only where we step, so nobody else may."""
        assert isinstance(event, _Call)
        if event is not self._due:
            raise RuntimeError("a run steps its environment itself; beside it, call neither run nor step")
        event.action(*event.arguments)
