"""Checks of pool, filter, watchdog and sources that run on every runtime as they are."""

from watchdog.codes import (
    ABSENT,
    BAD_VECTOR,
    FULL,
    INSTALLED,
    KNOWN,
    OVER,
    REMOVED,
    REPLACED,
    STALE,
    UNKNOWN_LANGUAGE,
    WITHDRAWN,
)
from watchdog.filter import FuzzyFilter, PoolFull
from watchdog.gauge import Gauge, NominalGauge
from watchdog.pool import Pool
from watchdog.reading import Reading
from watchdog.sources import MemorySource, SensorSource
from watchdog.watchdog import Watchdog


def subscription(id: int, saf: int, low: int, high: int, head: int = 0) -> bytes:
    """A crisp subscription to event 0: every attribute of saf between low and high."""
    k = 0
    for i in range(8):
        k += saf >> i & 1
    return bytes([id, 0, 100, 0, 0, head]) + bytes([low, high, 127]) * k + bytes([1, saf])


def reading_of(values: dict[int, int]) -> Reading:
    reading = Reading()
    reading.clear(0, 258, 772)
    for attribute in values:
        reading.set(attribute, values[attribute])
    return reading


def test_groups_go_from_large_to_small() -> None:
    guard = FuzzyFilter()
    for id, saf in enumerate((1, 2, 4, 3, 8)):
        guard.add((7, id), subscription(id, saf, 0, 100))
    released = guard.feed(reading_of({0: 5, 1: 6, 2: 7}))
    assert [r.vector for r in released] == [
        b"\x01\x02\x5f\x03\x04\xf0\x05\x06\x01\x03",
        b"\x01\x02\x5f\x03\x04\xf0\x07\x01\x04",
    ]
    assert [r.degree_u8 for r in released] == [255, 255]


def test_exact_features() -> None:
    guard = FuzzyFilter(1, "exact")
    guard.add((7, 0), subscription(0, 1, 0, 100))
    for values in ({0: 5, 1: 5}, {0: 5}):
        assert [release.vector[6:] for release in guard.feed(reading_of(values))] == [b"\x05\x01\x01"]


def test_nothing_passes_that_nobody_wants() -> None:
    guard = FuzzyFilter()
    guard.add((7, 0), subscription(0, 3, 0, 100))
    assert guard.feed(reading_of({0: 5, 1: 101})) == []
    assert guard.feed(reading_of({0: 5})) == []
    guard.remove((7, 0))
    assert guard.feed(reading_of({0: 5, 1: 5})) == []


def test_the_age_is_taken_at_its_best() -> None:
    guard = FuzzyFilter()
    guard.add((7, 0), bytes(5) + bytes([0xF0, 0, 100, 127, 0, 40, 127, 1, 129]))
    assert [r.vector[-1] for r in guard.feed(reading_of({0: 50}))] == [1]


def test_wide_features() -> None:
    guard = FuzzyFilter(8)
    guard.add(
        (7, 0),
        bytes(5) + bytes([0, 0, 9, 127, 0, 9, 127]) + bytes(7) + b"\x01" + b"\x10" + bytes(6) + b"\x02",
    )
    reading = Reading(8)
    reading.clear(0, 1, 1)
    reading.set(1, 4)
    reading.set(60, 8)
    assert guard.feed(reading)[0].vector[6:8] == b"\x04\x08"


def test_a_full_pool_refuses() -> None:
    guard = FuzzyFilter(1, "subset", 95, Pool(1, 5 + 14 * 2, 1))
    guard.add((7, 0), subscription(0, 1, 0, 100))
    guard.add((7, 1), subscription(1, 1, 0, 100))
    try:
        guard.add((7, 2), subscription(2, 1, 0, 100))
    except PoolFull:
        assert guard.pool.count == 2
    else:
        raise AssertionError("a third subscription fitted")


def test_installs() -> None:
    guard = Watchdog({1: FuzzyFilter()}, 2)
    good = subscription(0, 1, 0, 100)
    answers = [guard.install(7, 0, seq, 1, good, 5000, 0) for seq in (5, 5, 6, 5)]
    assert answers == [INSTALLED, KNOWN, REPLACED, STALE]
    assert guard.install(7, 1, 0, 9, good, 5000, 0) == UNKNOWN_LANGUAGE
    assert guard.install(7, 1, 0, 1, good[:-1], 5000, 0) == BAD_VECTOR
    assert guard.install(7, 1, 0, 1, good, 0, 0) == OVER
    assert guard.install(7, 1, 0, 1, good, 5000, 0) == INSTALLED
    assert guard.install(7, 2, 0, 1, good, 5000, 0) == FULL
    assert (guard.interested(), guard.counters["refused"]) == (2, 5)


def test_expiry() -> None:
    guard = Watchdog({1: FuzzyFilter()})
    guard.install(7, 0, 0, 1, subscription(0, 1, 0, 100), 5000, 1000)
    assert guard.next_expiry_ms() == 6000
    assert len(guard.feed(reading_of({0: 5}), 5999)) == 1
    assert guard.feed(reading_of({0: 5}), 6000) == []
    assert guard.next_expiry_ms() is None


def test_removals() -> None:
    guard = Watchdog({1: FuzzyFilter()})
    good = subscription(0, 1, 0, 100)
    guard.install(7, 0, 5, 1, good, 50000, 0)
    assert [guard.remove(7, 0, seq, 0) for seq in (4, 5, 5)] == [STALE, REMOVED, ABSENT]
    assert [guard.install(7, 0, seq, 1, good, 50000, 0) for seq in (5, 6)] == [WITHDRAWN, INSTALLED]


def test_sources() -> None:
    counters = {"clipped": 0, "missing": 0}
    reading = Reading()
    source = MemorySource(3, [Gauge(0, 0, 255, 0)], [{0: "7"}, {0: "999"}, {}], counters)
    found = []
    while source.read_into(reading, 1):
        found.append(reading.row[0] if reading.has(0) else None)
    assert (found, counters) == ([7, 255, None], {"clipped": 1, "missing": 1})


class DeadSensor:
    """A sensor that does not answer."""

    def read(self) -> int:
        raise OSError(5)


def test_a_dead_sensor() -> None:
    counters = {"clipped": 0, "missing": 0}
    reading = Reading()
    assert SensorSource(0, [Gauge(0, 0, 255, 0)], [DeadSensor()], counters).read_into(reading, 0)
    assert (reading.mask[0], counters["missing"]) == (0, 1)


def test_nominal_values() -> None:
    counters = {"clipped": 0, "missing": 0}
    reading = Reading()
    NominalGauge(2, ["ER", "ICU"]).note(reading, "ICU", counters)
    NominalGauge(3, ["ER", "ICU"]).note(reading, "W1", counters)
    assert (reading.row[2], reading.mask[0], counters["missing"]) == (1, 4, 1)
