"""Summaries: ranges behave as a set of numbers, and the bytes are canonical."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dens import summary
from dens.errors import RemoteProtocolError
from dens.known import KnownItems
from dens.summary import NumberRanges

numbers = st.integers(0, 40)


def ranges_of(members: set[int]) -> NumberRanges:
    ranges = NumberRanges()
    for number in members:
        ranges.add(number)
    return ranges


@given(st.lists(st.tuples(st.booleans(), numbers), max_size=80))
def test_ranges_are_a_set_of_numbers(steps: list[tuple[bool, int]]) -> None:
    ranges, oracle = NumberRanges(), set[int]()
    for is_added, number in steps:
        if is_added:
            ranges.add(number)
            oracle.add(number)
        else:
            ranges.discard(number)
            oracle.discard(number)
    assert {number for number in range(42) if number in ranges} == oracle
    pairs = list(ranges)
    assert sum(end - start + 1 for start, end in pairs) == len(oracle)
    assert all(start <= end for start, end in pairs)
    assert all(right[0] - left[1] >= 2 for left, right in pairwise(pairs))


@given(st.sets(numbers), st.sets(numbers))
def test_what_one_lacks_is_the_difference(mine: set[int], yours: set[int]) -> None:
    assert list(ranges_of(mine).minus(ranges_of(yours))) == sorted(mine - yours)
    assert list(ranges_of(mine).minus(None)) == sorted(mine)


@given(st.dictionaries(st.integers(0, 65_535), st.sets(st.integers(0, 2**31 - 1), min_size=1), max_size=6))
def test_a_summary_says_exactly_what_is_known(known: dict[int, set[int]]) -> None:
    data = summary.encode(sorted((origin, ranges_of(members)) for origin, members in known.items()), 10_000)
    decoded = summary.decode(data)
    for origin, members in known.items():
        assert decoded.names(origin)
        assert all((origin, number) in decoded for number in members)
        assert all((origin, number + 1) not in decoded for number in members if number + 1 not in members)
    assert not decoded.names(next(origin for origin in range(7) if origin not in known))


@given(st.binary(max_size=24))
def test_any_bytes_are_refused_or_are_what_would_be_encoded(data: bytes) -> None:
    try:
        decoded = summary.decode(data)
    except RemoteProtocolError:
        return
    assert summary.encode(sorted(decoded._by_origin.items()), 10_000) == data


@given(st.integers(0, 60))
def test_a_summary_that_does_not_fit_leaves_ranges_out(most_bytes: int) -> None:
    known = [(origin, ranges_of({1, 5, 9 + origin})) for origin in range(8)]
    data = summary.encode(known, most_bytes)
    assert len(data) <= most_bytes
    decoded = summary.decode(data)
    assert all((0, number) not in decoded for number in (0, 2, 3, 4))


def test_a_thousand_consecutive_numbers_are_few_bytes() -> None:
    known = KnownItems()
    for number in range(1_000):
        for origin in range(10):
            known.add((origin, number), 5)
    assert len(known.encode_all(10_000)) <= 60


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(1, 30)), max_size=60))
def test_known_items_end_in_order_and_leave_nothing(steps: list[tuple[int, int, int]]) -> None:
    known, ends = KnownItems(), dict[tuple[int, int], int]()
    for origin, number, until_ms in steps:
        if (origin, number) not in known:
            ends[origin, number] = until_ms
            if until_ms % 2:
                known.add_done((origin, number), until_ms)
            else:
                known.add((origin, number), until_ms)
    for now_ms in range(32):
        assert known.next_end_ms() == min(ends.values(), default=None)
        while (ended := known.pop_ended(now_ms)) is not None:
            assert ends.pop(ended[0]) == ended[1] == now_ms
        assert all(item_id in known for item_id in ends)
    assert len(known) == known.done_count == 0
    assert known.encode_all(100) == b""


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), st.booleans()), max_size=60))
def test_a_summary_that_says_the_same_is_recognised_and_nothing_else_is(
    steps: list[tuple[int, int, bool]],
) -> None:
    ours, theirs = KnownItems(), KnownItems()
    model: tuple[set[tuple[int, int]], set[tuple[int, int]]] = (set(), set())
    for origin, number, is_theirs in steps:
        side = theirs if is_theirs else ours
        side.add((origin, number), 9)
        model[is_theirs].add((origin, number))
        ours.encode_all(48_000)
        encoded = theirs.encode_all(48_000)
        familiar = ours.summary_if_same(encoded)
        assert (familiar is not None) == (model[0] == model[1])
        lacking = set(ours.lacking(familiar or summary.decode(encoded)))
        assert lacking == model[0] - model[1]
