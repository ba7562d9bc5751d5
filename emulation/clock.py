"""Simulated time of a run: whole milliseconds, with a fixed order within each of them.

Calls due in the same millisecond happen by rank, and within a rank in the order in which they were scheduled
(timers by the number of their node), so a run depends on nothing but its scenario and seed. Applications come
first, then arriving frames, then contacts that open. Contacts that end come last, so that they are used up to
their last millisecond.

The clock keeps its own queue and uses SimPy's public interface only: per run there is one event in SimPy's
queue, due when the first call is due. A run therefore goes on whenever its `simpy.Environment` does, beside
processes and other runs. See docs/decisions/0043-simpy.md.
"""

from collections.abc import Callable
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count
from math import ceil
from typing import Any, Final

import simpy

from dens.overlay.wire.codes import LAST_NODE

_NODES: Final = LAST_NODE + 1
"""Nodes have numbers below this."""


class Rank(IntEnum):
    """The order of calls within one millisecond."""

    CONTROL = 0
    """Recording of the run itself, and interruptions."""
    APPLICATION = 1
    """An application acts or a sensor reads."""
    ARRIVAL = 2
    """The last byte of a frame arrives."""
    CONTACT_OPENED = 3
    TIMER = 4
    """A timer of an engine is due; lower node numbers first (`wake_at`)."""
    CONTACT_LOST = 5


_TIMER: Final = float(Rank.TIMER)
_AFTER_OTHERS: Final[Any] = 2
"""SimPy's own priorities are 0 (urgent) and 1 (normal)."""
_NEVER_MS: Final = 1 << 62
_IN_CALLS_MS: Final = -1
_ROUNDING_MS: Final = 1e-3
"""Moments of the environment this close after a millisecond count as that millisecond. Environments in
seconds, or begun at a fraction, meet whole milliseconds only up to rounding."""

_Call = tuple[int, float, int, Callable[..., None], tuple[Any, ...]]


class _LateEnvironment(simpy.Environment):
    """A view of an environment whose timeouts come after all else in the same moment.

    `Timeout` takes no priority; it calls the public `schedule` of its environment, which sets it here.
    """

    def __init__(self, environment: simpy.Environment) -> None:
        super().__init__()
        self._environment = environment

    @property
    def now(self) -> float:
        return self._environment.now

    def schedule(self, event: simpy.Event, priority: Any = 1, delay: float = 0) -> None:
        self._environment.schedule(event, _AFTER_OTHERS, delay)


class Clock:
    """The queue of calls of a run. `now_ms` is the current millisecond, 0 when the clock is made.

    While no process waits for an event of the run, calls happen one after the other up to the next event of
    the environment. Otherwise SimPy steps from millisecond to millisecond, and a process that an event
    resumes runs before the next call. Other events of the environment happen before all calls of the same
    millisecond.
    """

    def __init__(self, environment: simpy.Environment | None = None, ms_per_unit: float = 1) -> None:
        """Start at the present time of the environment; `ms_per_unit` is 1000 for one in seconds."""
        self.environment = simpy.Environment() if environment is None else environment
        self.now_ms = 0
        self.horizon_ms = _NEVER_MS
        """The end of the run. The environment has to reach this time before the calls of that millisecond."""
        self.is_watched = False
        """Whether a process waits for an event of the run."""
        self._ms_per_unit = ms_per_unit
        self._begin: float = self.environment.now
        self._late = _LateEnvironment(self.environment)
        self._calls: list[_Call] = []
        self._order = count()
        self._tick_ms = _NEVER_MS
        """The time of the next tick in SimPy's queue. Ticks for other times are out of date."""
        self._stop_ms = 0
        """Calls before this time may happen without returning to SimPy."""

    @property
    def is_in_calls(self) -> bool:
        """Return whether a call is happening right now."""
        return self._tick_ms == _IN_CALLS_MS

    def call_at(self, at_ms: int, rank: Rank, action: Callable[..., None], *arguments: Any) -> None:
        """Schedule a call; a time in the past means now."""
        if at_ms < self.now_ms:
            at_ms = self.now_ms
        heappush(self._calls, (at_ms, float(rank), next(self._order), action, arguments))
        if at_ms < self._tick_ms:
            self._schedule_tick()

    def wake_at(self, at_ms: int, node: int, action: Callable[..., None], *arguments: Any) -> None:
        """Schedule the timer of a node at a time that is not in the past."""
        heappush(self._calls, (at_ms, _TIMER + node / _NODES, next(self._order), action, arguments))
        if at_ms < self._tick_ms:
            self._schedule_tick()

    def interrupt(self, raises: Callable[[], None]) -> None:
        """Schedule a call that raises as the next one, so that no call is left incomplete."""
        self.call_at(self.now_ms, Rank.CONTROL, raises)

    def catch_up(self) -> None:
        """Adopt the time of the environment, rounded up to a millisecond."""
        now = (self.environment.now - self._begin) * self._ms_per_unit
        self.now_ms = max(self.now_ms, ceil(now - _ROUNDING_MS))

    def yield_to_others(self) -> None:
        """Let SimPy process its events before the next call."""
        self._stop_ms = 0

    def run_until(self, at_ms: int) -> None:
        """Run all calls before this millisecond, which is `now_ms` afterwards."""
        until = self._begin + at_ms / self._ms_per_unit
        if until > self.environment.now:
            self.environment.run(until=until)
        self.catch_up()

    def end(self) -> None:
        """Drop all calls."""
        self._calls.clear()
        self._stop_ms = 0
        if not self.is_in_calls:
            self._tick_ms = _NEVER_MS

    def timeout(self, delay_ms: float, value: Any = None) -> simpy.Event:
        """Return an event of the environment that happens after this many milliseconds."""
        return self.environment.timeout(delay_ms / self._ms_per_unit, value)

    def _schedule_tick(self) -> None:
        """Schedule a SimPy event for the first call."""
        if not self._calls:
            self._tick_ms = _NEVER_MS
            return
        at_ms = self._tick_ms = self._calls[0][0]
        delay = self._begin + at_ms / self._ms_per_unit - self.environment.now
        tick = simpy.Timeout(self._late, max(0, delay), at_ms)
        tick.callbacks.append(self._on_tick)

    def _on_tick(self, tick: simpy.Event) -> None:
        """Run the calls that are due. This is a callback because SimPy copies exceptions of a process, which
        fails for exceptions whose constructor takes other arguments."""
        value: Any = tick.value
        due_ms: int = value
        if due_ms != self._tick_ms:
            return
        self._tick_ms = _IN_CALLS_MS
        self._stop_ms = due_ms + 1
        if not self.is_watched:
            others_ms = (self.environment.peek() - self._begin) * self._ms_per_unit - _ROUNDING_MS
            self._stop_ms = max(self._stop_ms, ceil(min(others_ms, self.horizon_ms)))
        calls = self._calls
        try:
            while calls and calls[0][0] < self._stop_ms:
                at_ms, _, _, action, arguments = heappop(calls)
                self.now_ms = at_ms
                action(*arguments)
        finally:
            self._schedule_tick()
