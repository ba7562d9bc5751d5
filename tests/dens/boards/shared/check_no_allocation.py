"""Feeds readings while the heap is locked: on MicroPython any allocation would raise MemoryError."""

from degrees import Chance, fill_body

from watchdog.aggregators import AGGREGATOR_NAMES, has_block
from watchdog.filter import FuzzyFilter
from watchdog.normalise import normal_byte
from watchdog.reading import Reading

try:
    from micropython import heap_lock, heap_unlock
except ImportError:

    def heap_lock() -> None:
        """CPython has no heap to lock."""

    def heap_unlock() -> None:
        """CPython has no heap to unlock."""


def filled_filter() -> FuzzyFilter:
    """A filter with subscriptions of every aggregator and many features."""
    guard = FuzzyFilter()
    chance = Chance(5)
    body = bytearray(64)
    for number in range(66):
        aggregator = sorted(AGGREGATOR_NAMES)[number % len(AGGREGATOR_NAMES)]
        k = 2 + number % 3
        fill_body(chance, body, aggregator, k)
        end = 1 + 3 * k
        if has_block(aggregator):
            end += 1 + body[1]
        saf = ((1 << k) - 1) << number % 4
        guard.add((number, number), bytes([number, 0, 100, 0, 0]) + bytes(body[:end]) + bytes([1, saf]))
    guard.prepare()
    return guard


def feed_locked(guard: FuzzyFilter, reading: Reading, values: bytearray) -> int:
    """Normalise and scan one reading after the other under lock; return how many notifications there were."""
    scan = guard.scan
    released = 0
    heap_lock()
    try:
        number = 0
        while number < 50:
            reading.clear(0, number, number)
            i = 0
            while i < 7:
                reading.set(i, normal_byte(values[(number + i) & 63], 0, 255))
                i += 1
            scan.begin(reading.event, reading.number, reading.stamp_s, reading.row, reading.mask)
            while scan.advance():
                released += 1
            number += 1
    finally:
        heap_unlock()
    return released


def test_that_readings_allocate_nothing() -> None:
    chance = Chance(9)
    values = bytearray(64)
    for i in range(64):
        values[i] = chance.byte()
    released = feed_locked(filled_filter(), Reading(), values)
    assert released == EXPECTED, released


EXPECTED = 197
"""How many notifications CPython releases for this; the other runtimes must agree."""
