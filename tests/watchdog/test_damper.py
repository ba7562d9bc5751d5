"""Hysteresis and minimum interval: what they hold back, that it is counted, and that off means off."""

from hypothesis import given
from hypothesis import strategies as st

from watchdog.damper import Damper
from watchdog.filter import FuzzyFilter
from watchdog.reading import Reading
from watchdog.watchdog import Watchdog

ANYTHING = bytes([0, 0, 100, 0, 0, 0, 0, 255, 127, 1, 1])
BOTH = bytes([1, 0, 100, 0, 0, 0, 0, 255, 127, 0, 255, 127, 1, 3])


def watchdog(interval_ms: int = 0, hysteresis: int = 0, vector: bytes = ANYTHING) -> Watchdog:
    dampers = {1: Damper(1, interval_ms, hysteresis)} if interval_ms or hysteresis else {}
    guard = Watchdog({1: FuzzyFilter()}, dampers=dampers)
    guard.install(7, 0, 0, 1, vector, 10_000_000, 0)
    return guard


def reading(*values: int) -> Reading:
    found = Reading()
    found.clear(0, 1, 2)
    for attribute, value in enumerate(values):
        found.set(attribute, value)
    return found


def test_values_near_the_last_one_sent_are_held_back() -> None:
    guard = watchdog(hysteresis=5)
    sent = []
    for now_ms, value in enumerate((100, 104, 96, 105, 101, 100, 110)):
        if guard.feed(reading(value), now_ms):
            sent.append(value)
            assert guard.suppressed is None
        else:
            assert guard.suppressed == "hysteresis"
    assert sent == [100, 105, 100, 110]
    assert guard.counters["hysteresis"] == 3
    assert guard.counters["released"] == 4


def test_one_value_that_moves_is_enough() -> None:
    guard = watchdog(hysteresis=5, vector=BOTH)
    assert [len(guard.feed(reading(*pair), 0)) for pair in ((10, 10), (11, 12), (11, 15))] == [1, 0, 1]


def test_an_interval_must_pass() -> None:
    guard = watchdog(interval_ms=1000)
    assert [len(guard.feed(reading(9), now_ms)) for now_ms in (0, 999, 1000, 1500, 2000)] == [1, 0, 1, 0, 1]
    assert guard.counters["interval"] == 2


def test_another_feature_is_another_matter() -> None:
    guard = watchdog(interval_ms=1000)
    guard.install(7, 1, 0, 1, BOTH, 10_000_000, 0)
    assert len(guard.feed(reading(9), 0)) == 1
    assert len(guard.feed(reading(9, 9), 1)) == 1
    assert len(guard.feed(reading(9), 2)) == 0


def test_clock_set_back_silences_no_source() -> None:
    guard = watchdog(interval_ms=1000)
    assert [len(guard.feed(reading(9), now_ms)) for now_ms in (90_000, 10, 500, 1010)] == [1, 1, 0, 1]


@given(
    st.lists(st.tuples(st.integers(0, 255), st.integers(0, 50)), max_size=30),
    st.integers(1, 40),
    st.integers(1, 9),
)
def test_the_rules_by_their_definition(
    steps: list[tuple[int, int]], interval_ms: int, hysteresis: int
) -> None:
    guard = watchdog(interval_ms, hysteresis)
    free = watchdog()
    now_ms = 0
    last: tuple[int, int] | None = None
    for value, wait_ms in steps:
        now_ms += wait_ms
        news = last is None or (now_ms - last[0] >= interval_ms and abs(value - last[1]) >= hysteresis)
        assert len(guard.feed(reading(value), now_ms)) == news
        assert len(free.feed(reading(value), now_ms)) == 1
        if news:
            last = (now_ms, value)
    held_back = guard.counters["interval"] + guard.counters["hysteresis"]
    assert held_back + guard.counters["released"] == len(steps)
    assert free.counters["interval"] + free.counters["hysteresis"] == 0
