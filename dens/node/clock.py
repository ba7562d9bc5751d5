"""The clock of a node: milliseconds since 2020, never negative, never jumping.

A machine without a battery-backed clock starts in 1970. Its node runs all the same: its time begins with
2020, ages and lifetimes are right from then on, and the user is warned about the rest.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from dens.config.problems import DocumentError

NETWORK_EPOCH_MS: Final = 1_577_836_800_000
"""2020-01-01, in Unix time."""
LAST_MS: Final = 1000 << 30
"""A watchdog counts seconds up to 2³⁰, 34 years from 2020 on."""
_SET_IT: Final = "set the clock (timedatectl, or date -s) and start again"


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


_STEADY_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that never jumps and, where the system has one, counts the time that the machine was suspended."""


def _steady_ms() -> int:
    return time.clock_gettime_ns(_STEADY_CLOCK) // 1_000_000


def real_clock(
    wall: Callable[[], int] = _wall_ms, steady: Callable[[], int] = _steady_ms
) -> Callable[[], int]:
    """Return a clock in milliseconds since 2020 that starts with the wall clock and never jumps. It starts
    with 0 if the wall clock is before 2020.
    """
    begin_ms = max(0, wall() - NETWORK_EPOCH_MS) - steady()
    return lambda: begin_ms + steady()


def clock_advice(unix_ms: int) -> str | None:
    """Return a warning about the machine's clock, None if it is plausible."""
    shows = f"this machine's clock shows {_date(unix_ms)}"
    if unix_ms < NETWORK_EPOCH_MS:
        return (
            f"{shows} and is treated as the start of 2020; messages are exchanged now, but after a restart "
            "stored messages seem to come from the future and are not in force, readings have wrong dates, "
            f"and a lost store reuses message numbers that other nodes know; {_SET_IT}"
        )
    if unix_ms >= NETWORK_EPOCH_MS + LAST_MS:
        return (
            f"{shows}, but watchdogs count only to {_date(NETWORK_EPOCH_MS + LAST_MS)}: no reading is "
            f"released, and a new store reuses message numbers; {_SET_IT}"
        )
    return None


def warn_of_clock(say: Callable[[str], None], wall: Callable[[], int] = _wall_ms) -> None:
    """Warn about an implausible clock."""
    advice = clock_advice(wall())
    if advice is not None:
        say(advice)


def refuse_clock(now_ms: int) -> None:
    """Refuse a clock beyond the range of a watchdog: every subscription would expire before it is installed,
    so no reading would ever be released.
    """
    if now_ms >= LAST_MS:
        advice = clock_advice(now_ms + NETWORK_EPOCH_MS)
        raise DocumentError.of_file("clock", "D355", f"{advice}")


def _date(unix_ms: int) -> str:
    try:
        return f"{datetime.fromtimestamp(unix_ms / 1000, UTC):%Y-%m-%d}"
    except (OverflowError, ValueError, OSError):
        return "an invalid date"
