"""Subscribers of any number have filters at a watchdog, each its own."""

from hypothesis import given
from hypothesis import strategies as st

from dens.node.filter_host import ShortOrigins
from watchdog.codes import INSTALLED, REMOVED, REPLACED, STALE
from watchdog.filter import FuzzyFilter
from watchdog.reading import Reading
from watchdog.watchdog import Watchdog

LAST = 2**31 - 1
BODY = bytes.fromhex("0000d0") + bytes([100, 150, 120]) + bytes([2, 1])


class Named:
    """A filter host that only remembers who was named how."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def install(self, origin: int, *told: object) -> int:
        self.asked.append(origin)
        return 0

    def remove(self, origin: int, *told: object) -> None:
        self.asked.append(origin)


@given(
    st.lists(
        st.one_of(st.integers(0, 8), st.integers(65_528, 65_545), st.integers(LAST - 3, LAST)), max_size=80
    )
)
def test_names_are_short_and_different_and_stay(origins: list[int]) -> None:
    host = Named()
    short = ShortOrigins(host, most=64)
    names: dict[int, int] = {}
    for place, origin in enumerate(origins):
        if place % 3:
            short.install(origin, 0, 0, 1, BODY, 5_000, 0)
        else:
            short.remove(origin, 0, 0, 0)
        assert 0 <= host.asked[-1] < 65_536
        assert names.setdefault(origin, host.asked[-1]) == host.asked[-1]
        if max(origins) < 65_536:
            assert host.asked[-1] == origin
    assert len(set(names.values())) == len(names)


def test_oldest_short_origin_is_evicted_and_no_short_origin_is_given_twice() -> None:
    host = Named()
    short = ShortOrigins(host, most=3)
    for origin in (100_001, 100_002, 100_003, 100_001, 100_004, 100_001, 100_003):
        short.install(origin, 0, 0, 1, BODY, 5_000, 0)
    first, second, third, again, fourth, kept, also_kept = host.asked
    assert first == again == kept
    assert third == also_kept
    assert len({first, second, third, fourth}) == 4


def test_a_watchdog_filters_for_subscribers_that_differ_in_the_upper_bytes_only() -> None:
    watchdog = Watchdog({1: FuzzyFilter()})
    host = ShortOrigins(watchdog)
    numbers = (5, 65_536 + 5, LAST, LAST - 65_536)
    for origin in numbers:
        assert host.install(origin, 7, 3, 1, bytes((7, 3, 95)) + BODY, 5_000, 0) == INSTALLED
    assert watchdog.interested() == len(numbers)
    assert host.install(LAST, 7, 2, 1, bytes((7, 2, 95)) + BODY, 5_000, 0) == STALE
    assert host.install(LAST, 7, 4, 1, bytes((7, 4, 95)) + BODY, 5_000, 0) == REPLACED
    for left, origin in zip((3, 2, 1, 0), numbers, strict=True):
        reading = Reading(1)
        reading.clear(1, 0, 0)
        reading.set(0, 120)
        assert len(watchdog.feed(reading, 10)) == 1
        assert host.remove(origin, 7, 4, 20) == REMOVED
        assert watchdog.interested() == left
