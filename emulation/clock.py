"""Simulated time: whole milliseconds, and what happens in each of them in a fixed order.

SimPy keeps the queue. Things due in the same millisecond happen by rank, and within a rank in the order
in which they were asked for, so a run never depends on anything but its scenario and seed. The ranks put
creations first, then frames that arrive, then contacts that open, and contacts that end last: whatever
could still be used is used.
"""

from collections.abc import Callable
from enum import IntEnum

import simpy
from simpy.events import EventPriority


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
    """The queue of things to happen."""

    def __init__(self) -> None:
        self._environment = simpy.Environment(initial_time=0)

    @property
    def now_ms(self) -> int:
        """Return the current millisecond."""
        return int(self._environment.now)

    def call_at(self, at_ms: int, rank: Rank, action: Callable[[], None]) -> None:
        """Let this happen at that time; a time in the past means now."""
        event = simpy.Event(self._environment)
        event._ok = True
        event._value = None
        event.callbacks.append(lambda _: action())
        self._environment.schedule(event, priority=EventPriority(rank), delay=max(0, at_ms - self.now_ms))

    def run_until(self, at_ms: int) -> None:
        """Let everything happen that is due before this millisecond; afterwards it is `now_ms`."""
        if at_ms > self.now_ms:
            self._environment.run(until=at_ms)
