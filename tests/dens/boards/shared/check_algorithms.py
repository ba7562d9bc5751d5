"""FNIF, FNIFS and FNIFC release the same readings on every runtime; equal subscriptions share a record."""

from strata_algorithms import checksums

from watchdog.codes import ALGORITHMS
from watchdog.filter import FuzzyFilter
from watchdog.pool import FOLLOWERS, Pool
from watchdog.watchdog import Watchdog


def test_that_all_release_the_same() -> None:
    found = []
    for name in sorted(ALGORITHMS):
        source = FuzzyFilter(pool=Pool(1, 71, 40, ALGORITHMS[name]))
        found.append(checksums(source.pool, source.scan))
    assert found[0] == found[1] == found[2]
    assert found[0] == EXPECTED, found[0]


def test_that_equals_are_one_record() -> None:
    wanted = bytes(5) + bytes([0, 10, 20, 127, 1, 1])
    for name in sorted(ALGORITHMS):
        pool = Pool(1, 2048, 8, ALGORITHMS[name])
        guard = Watchdog({1: FuzzyFilter(pool=pool)})
        for number in range(200):
            assert guard.install(number, 7, 0, 1, wanted, 60000, 0) == 0
        assert sum([block[1] for block in pool.blocks if block[2] != FOLLOWERS]) == 1
        for number in range(199):
            guard.remove(number, 7, 0, 1)
        assert (guard.interested(), len(pool.blocks)) == (1, 1)


EXPECTED = [2262106, 8, 1729318, 7, 2388896, 7, 1912581, 7, 3207019, 8, 1091487, 7]
"""What CPython releases; the other runtimes must agree."""
