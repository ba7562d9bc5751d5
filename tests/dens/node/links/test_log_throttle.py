"""Frequent events are logged at a bounded rate, and the suppressed ones are counted."""

from hypothesis import given
from hypothesis import strategies as st

from dens.node.links.log_throttle import FIRST_INTERVAL_MS, LONGEST_INTERVAL_MS, LogThrottle, Repetition


def test_first_event_is_logged_then_counts_at_growing_intervals() -> None:
    rates: LogThrottle[str] = LogThrottle(4)
    told = []
    for now_ms in range(0, 400_000, 1_000):
        if rates.is_first("bad_tag", now_ms):
            told.append((now_ms, 1))
        told += [(now_ms, one.times) for one in rates.due(now_ms)]
    assert told == [(0, 1), (10_000, 10), (30_000, 20), (70_000, 40), (150_000, 80), (310_000, 160)]


def test_event_after_a_quiet_interval_is_logged_at_once() -> None:
    rates: LogThrottle[str] = LogThrottle(4)
    assert rates.is_first("bad_tag", 0)
    assert not rates.is_first("bad_tag", 1)
    assert rates.due(FIRST_INTERVAL_MS) == [Repetition("bad_tag", 1, FIRST_INTERVAL_MS)]
    assert rates.due(3 * FIRST_INTERVAL_MS) == []
    assert rates.is_first("bad_tag", 3 * FIRST_INTERVAL_MS + 1)


def test_at_the_end_nothing_is_kept_back() -> None:
    rates: LogThrottle[str] = LogThrottle(1)
    for _ in range(3):
        rates.is_first("one", 5)
        rates.is_first("another", 5)
    assert rates.due(7) == []
    assert rates.due(7, at_the_end=True) == [Repetition("one", 2, 2), Repetition(None, 3, 2)]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(-2_000, 2_000)), max_size=400), st.integers(1, 20))
def test_every_event_is_logged_once_by_itself_or_in_a_count(steps: list[tuple[int, int]], most: int) -> None:
    """Whatever happens, and however the clock jumps."""
    rates: LogThrottle[int] = LogThrottle(most)
    now_ms, told, lines = 0, 0, 0
    for what, step_ms in steps:
        now_ms += step_ms
        told += rates.is_first(what, now_ms)
        for rate in rates.due(now_ms):
            told += rate.times
            lines += 1
            assert 0 <= rate.within_ms <= 2 * LONGEST_INTERVAL_MS
    told += sum(rate.times for rate in rates.due(now_ms, at_the_end=True))
    assert told == len(steps)


@given(st.integers(1, 64), st.integers(1_000, 20_000))
def test_lines_are_bounded_whatever_comes(most: int, datagrams: int) -> None:
    """A flood of a minute from as many places as there are datagrams."""
    rates: LogThrottle[int] = LogThrottle(most)
    lines = 0
    for number in range(datagrams):
        now_ms = 60_000 * number // datagrams
        lines += rates.is_first(number, now_ms) + len(rates.due(now_ms))
    assert lines <= 7 * (most + 1)
