"""The clock of a node from 1970 to 2100, and the warning about an implausible one."""

import time
from datetime import UTC, datetime

import pytest

from dens.node import clock
from dens.node.clock import LAST_MS, NETWORK_EPOCH_MS, clock_advice, real_clock, warn_of_clock


def unix_ms(year: int) -> int:
    return round(datetime(year, 1, 1, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize("year", range(1970, 2101, 5))
def test_time_is_never_negative_and_never_jumps(year: int) -> None:
    wall, steady = [unix_ms(year)], [123_456]
    clock = real_clock(lambda: wall[0], lambda: steady[0])
    begin_ms = clock()
    assert begin_ms == max(0, unix_ms(year) - NETWORK_EPOCH_MS)
    wall[0] += 10**12
    steady[0] += 5
    assert clock() == begin_ms + 5, "a correction of the wall's clock reaches the next start"


@pytest.mark.parametrize(
    ("at_ms", "message"),
    [
        (0, "this machine's clock shows 1970-01-01 and is treated as the start of 2020; "),
        (unix_ms(2020) - 1, "this machine's clock shows 2019-12-31 and "),
        (unix_ms(2020), None),
        (unix_ms(2026), None),
        (NETWORK_EPOCH_MS + LAST_MS - 1, None),
        (
            NETWORK_EPOCH_MS + LAST_MS,
            "this machine's clock shows 2054-01-09, but watchdogs count only to 2054-01-09",
        ),
        (unix_ms(2100), "this machine's clock shows 2100-01-01, "),
    ],
)
def test_implausible_clock_is_reported_with_consequence_and_fix(at_ms: int, message: str | None) -> None:
    told: list[str] = []
    warn_of_clock(told.append, lambda: at_ms)
    if message is None:
        assert told == []
        assert clock_advice(at_ms) is None
    else:
        [line] = told
        assert line.startswith(message)
        assert line.endswith("set the clock (timedatectl, or date -s) and start again")
        assert "numbers" in line
        assert "reading" in line


def test_suspended_time_counts() -> None:
    """CLOCK_BOOTTIME goes on while the machine is suspended, CLOCK_MONOTONIC does not."""
    boot_ms = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    assert abs(clock._steady_ms() - boot_ms) < 10_000
    assert clock._STEADY_CLOCK == time.CLOCK_BOOTTIME
