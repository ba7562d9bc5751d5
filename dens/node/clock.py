"""The clock of a node: milliseconds since 2020, never below 0, never jumping, and what the machine's own
clock is worth.

A machine without a battery wakes up in 1970. It is a node all the same: its time begins with 2020 then, ages
and lifetimes are right from there on, and the person is told what is not.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from dens.config.problems import DocumentError

NETWORK_EPOCH_MS: Final = 1_577_836_800_000
"""2020-01-01, in Unix time."""
LAST_MS: Final = 1000 << 30
"""A watchdog counts seconds below 2³⁰, which are 34 years from 2020 on."""
_SET_IT: Final = "set it (timedatectl, or date -s) and start anew"


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


_STEADY_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that never jumps and, where the system has one, counts the time that the machine was suspended."""


def _steady_ms() -> int:
    return time.clock_gettime_ns(_STEADY_CLOCK) // 1_000_000


def real_clock(
    wall: Callable[[], int] = _wall_ms, steady: Callable[[], int] = _steady_ms
) -> Callable[[], int]:
    """Return a clock in milliseconds since 2020: the wall's at this moment, and from then on one that never
    jumps. Before 2020 it is 0.
    """
    begin_ms = max(0, wall() - NETWORK_EPOCH_MS) - steady()
    return lambda: begin_ms + steady()


def clock_advice(unix_ms: int) -> str | None:
    """Return what a person has to know of a machine's clock, or None where it can be right."""
    says = f"this machine's clock says {_date(unix_ms)}"
    if unix_ms < NETWORK_EPOCH_MS:
        return (
            f"{says}, and is taken for the start of 2020; what is heard and said now works, but after a "
            "restart what this node holds seems to come from later and is not in force, readings are dated "
            f"wrong, and a store that is lost begins with numbers which others know already; {_SET_IT}"
        )
    if unix_ms >= NETWORK_EPOCH_MS + LAST_MS:
        return (
            f"{says}, and watchdogs count to {_date(NETWORK_EPOCH_MS + LAST_MS)}: readings are kept at their "
            f"source, and the numbers of a new store begin anew; {_SET_IT}"
        )
    return None


def warn_of_clock(say: Callable[[str], None], wall: Callable[[], int] = _wall_ms) -> None:
    """Tell the person how this machine's clock stands, where it cannot be right."""
    advice = clock_advice(wall())
    if advice is not None:
        say(advice)


def refuse_clock(now_ms: int) -> None:
    """Refuse to measure by a clock by which nothing can be looked for: every subscription is over before it
    is installed, and every reading would be kept without a word.
    """
    if now_ms >= LAST_MS:
        advice = clock_advice(now_ms + NETWORK_EPOCH_MS)
        raise DocumentError.of_file("clock", "D355", f"{advice}")


def _date(unix_ms: int) -> str:
    try:
        return f"{datetime.fromtimestamp(unix_ms / 1000, UTC):%Y-%m-%d}"
    except (OverflowError, ValueError, OSError):
        return "no date at all"
