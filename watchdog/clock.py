"""A board's clock: milliseconds since its start that never go back.

Boards count ticks that wrap around. What a tick counter says is added up here; where it jumps, back or by
more than an hour, no time is taken to have passed, and the jump is counted.
"""

HOUR_MS = 3600000


class Clock:
    """Adds up ticks; `ticks_ms` and `ticks_diff` are the board's own."""

    def __init__(self, ticks_ms, ticks_diff) -> None:  # type: ignore[no-untyped-def]
        self._ticks_ms = ticks_ms
        self._ticks_diff = ticks_diff
        self._last = ticks_ms()
        self._now_ms = 0
        self.jumps = 0

    def now_ms(self) -> int:
        """Return the milliseconds since this clock was made."""
        ticks = self._ticks_ms()
        passed = self._ticks_diff(ticks, self._last)
        if passed < 0 or passed > HOUR_MS:
            self.jumps += 1
            passed = 0
        self._last = ticks
        self._now_ms += passed
        return self._now_ms
