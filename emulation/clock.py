"""Simulated time: whole milliseconds, and what happens in each of them in a fixed order.

SimPy keeps the queue. Things due in the same millisecond happen by rank, and within a rank in the order
in which they were asked for (timers by the number of their node), so a run never depends on anything but its
scenario and seed. The ranks put creations first, then frames that arrive, then contacts that open, and
contacts that end last: whatever could still be used is used.
"""

from collections.abc import Callable
from enum import IntEnum
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


class _Call(simpy.Event):
    """Something that was asked to happen. Nobody waits for it, so it is born triggered and needs no list of
    its own for those who do."""

    _ok = True
    _value = None

    def __init__(
        self,
        callbacks: list[Callable[[simpy.Event], None]],
        at_ms: int,
        action: Callable[..., None],
        arguments: tuple[Any, ...],
    ) -> None:
        self.callbacks = callbacks
        self.at_ms = at_ms
        self.action = action
        self.arguments = arguments


class Clock:
    """The queue of things to happen. `now_ms` is the current millisecond."""

    def __init__(self) -> None:
        self.now_ms = 0
        self._environment = simpy.Environment(initial_time=0)
        self._schedule: Callable[[simpy.Event, Any, int], None] = self._environment.schedule
        self._callbacks: list[Callable[[simpy.Event], None]] = [self._happen]

    def call_at(self, at_ms: int, rank: Rank, action: Callable[..., None], *arguments: Any) -> None:
        """Let this happen at that time, with these arguments; a time in the past means now."""
        now_ms = self.now_ms
        if at_ms < now_ms:
            at_ms = now_ms
        event = _Call(self._callbacks, at_ms, action, arguments)
        self._schedule(event, rank, at_ms - now_ms)

    def wake_at(self, at_ms: int, node: int, action: Callable[..., None], *arguments: Any) -> None:
        """Let a node's timer happen at that time, which is not in the past."""
        event = _Call(self._callbacks, at_ms, action, arguments)
        self._schedule(event, Rank.TIMER + node / _NODES, at_ms - self.now_ms)

    def interrupt(self, raises: Callable[[], None]) -> None:
        """Let this happen next, which raises: between two calls, so that nothing is left half done."""
        self._schedule(_Call(self._callbacks, self.now_ms, raises, ()), 0, 0)

    def _happen(self, event: simpy.Event) -> None:
        assert isinstance(event, _Call)
        self.now_ms = event.at_ms
        event.action(*event.arguments)

    def run_until(self, at_ms: int) -> None:
        """Let everything happen that is due before this millisecond; afterwards it is `now_ms`."""
        if at_ms > self.now_ms:
            self._environment.run(until=at_ms)
            self.now_ms = at_ms
