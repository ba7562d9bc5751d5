"""A publisher's filter as the figures measure it: each subscription a record of its own, as in the paper, or
equals as one record, as boards have it.

Work is counted from outside, in a pass that is not timed, because boards would pay for every counter.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Final

from watchdog import covering, fnif, scan
from watchdog.codes import ALGORITHMS
from watchdog.covering import settle
from watchdog.fnif import FlatScan
from watchdog.forms import combine_every
from watchdog.pool import NEVER, Pool
from watchdog.reading import Reading
from watchdog.scan import Scan
from watchdog.sharing import enter, leave
from watchdog.vector import ONE_HOUR

GRADER: Final = "first_satisfied"
"""The name by which the filters call what judges records."""


class PublisherFilter:
    """Subscriptions in a pool, and one of the paper's algorithms over it."""

    def __init__(self, algorithm: str, condition: str, shares: bool = False) -> None:
        self.pool = Pool(1, 1024, 65_535, ALGORITHMS[algorithm])
        kind = FlatScan if self.pool.flat else Scan
        self.scan = kind(self.pool, condition == "exact", ONE_HOUR, combine_every)
        self._shares = shares
        self._changed = False

    def insert(self, number: int, vector: bytes) -> None:
        """Take a subscription in: look whether its key is known, as the WD manager does, and hold it."""
        origin, id = number >> 8, number & 255
        self.pool.judge(origin, id, 0)
        if self._shares:
            enter(self.pool, origin, id, 0, NEVER, vector, 5, len(vector))
        else:
            self.pool.put(origin, id, 0, NEVER, vector, 5, len(vector))
            if self.pool.covering:
                settle(self.pool, self.pool.find(origin, id))
        self._changed = True

    def delete(self, number: int) -> None:
        """Let a subscription go."""
        leave(self.pool, self.pool.find(number >> 8, number & 255))
        self._changed = True

    def feed(self, reading: Reading) -> int:
        """Return how many notifications a reading is worth."""
        if self._changed:
            self.scan.prepare()
            self._changed = False
        self.scan.begin(reading.event, reading.number, reading.stamp_s, reading.row, reading.mask)
        found = 0
        while self.scan.advance():
            found += 1
        return found

    def load(self, vectors: list[bytes]) -> None:
        """Hold many that are known to be new, without looking for their keys."""
        for number, vector in enumerate(vectors):
            origin, id = number >> 8, number & 255
            self.pool.put(origin, id, 0, NEVER, vector, 5, len(vector))
            if self.pool.covering:
                settle(self.pool, self._newest(origin, id))
        self.scan.prepare()

    def _newest(self, origin: int, id: int) -> int:
        """Return the address of the record that was put last: it is the last active one of its block."""
        key = bytes([origin >> 8, origin & 255, id])
        header = self.pool.header()
        for number, block in enumerate(self.pool.blocks):
            at = header + (block[header - 1] - 1) * (block[0] << 1)
            if block[header - 1] and block[at : at + 3] == key:
                return number << 16 | at
        raise AssertionError("a record that was put is there")


@dataclass(slots=True)
class SourceWork:
    """What one filter did for some readings."""

    feature_tests: int = 0
    """Features held against a reading's: one a record (FNIF), or one a block of equal features."""
    judged: int = 0
    """Subscriptions whose values were looked at."""


def counted_work(source: PublisherFilter, readings: list[Reading]) -> dict[str, float]:
    """Return feature tests and subscriptions judged for one reading, the mean over these."""
    work = SourceWork()
    with _counting(work):
        for reading in readings:
            found = source.scan
            found.begin(reading.event, reading.number, reading.stamp_s, reading.row, reading.mask)
            while found.advance():
                pass
            work.feature_tests += source.pool.count if source.pool.flat else found.next
    return {
        "feature tests": work.feature_tests / len(readings),
        "subscriptions judged": work.judged / len(readings),
    }


@contextmanager
def _counting(work: SourceWork) -> Iterator[None]:
    """Have the filters' one grader called for a record at a time, and count the calls."""
    plain = getattr(scan, GRADER)

    def counted(
        block: bytearray,
        at: int,
        count: int,
        values: bytearray,
        aged: int,
        degrees: bytearray,
        combine: object,
    ) -> int:
        for _ in range(count):
            work.judged += 1
            found: int = plain(block, at, 1, values, aged, degrees, combine)
            if found:
                return found
            at += block[0] << 1
        return 0

    with _replaced((scan, fnif), GRADER, counted):
        yield


def counted_covering(load: Callable[[], PublisherFilter]) -> dict[str, float]:
    """Return what loading looks at: keys, because each one might be known, and records for covering."""
    plain = covering.covers
    compared = 0

    def counted(a: bytes | bytearray, i: int, b: bytes | bytearray, j: int, n: int) -> bool:
        nonlocal compared
        compared += 1
        return plain(a, i, b, j, n)

    with _replaced((covering,), "covers", counted):
        held = load().pool.count
    return {"keys looked at": held * (held - 1) / 2, "records compared for covering": float(compared)}


@contextmanager
def _replaced(modules: Sequence[ModuleType], name: str, function: object) -> Iterator[None]:
    """Let modules call another function by a name, for a while."""
    plain = [getattr(module, name) for module in modules]
    for module in modules:
        setattr(module, name, function)
    try:
        yield
    finally:
        for module, before in zip(modules, plain, strict=True):
            setattr(module, name, before)
