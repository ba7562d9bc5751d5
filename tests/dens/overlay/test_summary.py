"""Summaries: ranges behave as a set of numbers, and the bytes are canonical."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.overlay.errors import RemoteProtocolError
from dens.overlay.storage.deduplication import KnownItems
from dens.overlay.wire import summary
from dens.overlay.wire.codes import LAST_NODE
from dens.overlay.wire.item import NEVER_MS, ItemId, item_id
from dens.overlay.wire.summary import NumberRanges, RecentIds

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


@given(
    st.dictionaries(
        st.integers(0, 65_535) | st.integers(0, 2**31 - 1),
        st.sets(st.integers(0, 2**31 - 1), min_size=1),
        max_size=6,
    )
)
def test_a_summary_says_exactly_what_is_known(known: dict[int, set[int]]) -> None:
    data = summary.encode(sorted((origin, ranges_of(members)) for origin, members in known.items()), 10_000)
    decoded = summary.decode(data)
    for origin, members in known.items():
        assert decoded.names(origin)
        assert all(item_id(origin, number) in decoded for number in members)
        assert all(
            item_id(origin, number + 1) not in decoded for number in members if number + 1 not in members
        )
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
    assert all(item_id(0, number) not in decoded for number in (0, 2, 3, 4))


def test_a_thousand_consecutive_numbers_are_few_bytes() -> None:
    known = KnownItems()
    for number in range(1_000):
        for origin in range(10):
            known.add(item_id(origin, number), 5)
    assert len(known.encode_part(0, None, 10_000)[0]) <= 60


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(1, 30)), max_size=60))
def test_known_items_end_in_order_and_leave_nothing(steps: list[tuple[int, int, int]]) -> None:
    known, ends = KnownItems(), dict[ItemId, int]()
    for origin, number, until_ms in steps:
        if item_id(origin, number) not in known:
            ends[item_id(origin, number)] = until_ms
            if until_ms % 2:
                known.add_released(item_id(origin, number), until_ms)
            else:
                known.add(item_id(origin, number), until_ms)
    for now_ms in range(32):
        assert min(known.wake_ms, known.forget_ms) == min(ends.values(), default=NEVER_MS)
        while (ended := known.pop_expired(now_ms)) is not None:
            assert ends.pop(ended[0]) == ended[1] == now_ms
            assert not now_ms % 2
            known.forget(ended[0])
        while (forgotten := known.pop_forgotten(now_ms)) is not None:
            assert ends.pop(forgotten) == now_ms
        assert all(one in known for one in ends)
    assert len(known) == known.released_count == 0
    assert known.encode_part(0, None, 100)[0] == b""


known_sets = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 400), st.integers(0, 9)), max_size=60)


@given(known_sets)
def test_comparing_finds_the_difference_and_encoding_follows_every_change(
    steps: list[tuple[int, int, int]],
) -> None:
    sides = (KnownItems(), KnownItems())
    model: tuple[set[tuple[int, int]], set[tuple[int, int]]] = (set(), set())
    for origin, number, what in steps:
        both = (0, 1) if what > 4 else (what % 2,)
        for side in both:
            if what == 4 and model[side]:
                gone = min(model[side], key=lambda one: abs(one[1] - number))
                sides[side].forget(item_id(*gone))
                model[side].remove(gone)
            else:
                sides[side].add(item_id(origin, number), 9)
                model[side].add((origin, number))
        ours, theirs = sides
        encoded = theirs.encode_part(0, None, 48_000)[0]
        by_origin = {
            origin: ranges_of({number for one, number in model[1] if one == origin}) for origin, _ in model[1]
        }
        assert encoded == summary.encode(sorted(by_origin.items()), 48_000)
        compared = ours.compare(encoded)
        assert list(compared.lacking) == [item_id(*one) for one in sorted(model[0] - model[1])]
        for one in model[0] ^ model[1]:
            assert (item_id(*one) in compared) == (one in model[1])


@given(known_sets, st.binary(max_size=24), st.integers(0, 60), st.integers(0, 7))
def test_comparing_refuses_exactly_what_decoding_refuses(
    steps: list[tuple[int, int, int]], junk: bytes, position: int, bit: int
) -> None:
    ours, theirs = KnownItems(), KnownItems()
    for origin, number, what in steps:
        for side in (ours, theirs) if what > 2 else (theirs,):
            side.add(item_id(origin, number), 9)
    changed = bytearray(theirs.encode_part(0, None, 48_000)[0])
    if position < len(changed):
        changed[position] ^= 1 << bit
    for data in (bytes(changed), bytes(changed) + junk, junk):
        try:
            decoded = summary.decode(data)
        except RemoteProtocolError:
            with pytest.raises(RemoteProtocolError):
                ours.compare(data)
        else:
            compared = ours.compare(data)
            mine = {item_id(origin, number) for origin, number, what in steps if what > 2}
            assert list(compared.lacking) == sorted(one for one in mine if one not in decoded)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2), st.integers(0, 30)), max_size=80))
def test_recent_identities_are_a_set_however_many(steps: list[tuple[bool, int, int]]) -> None:
    recent, oracle = RecentIds(10_000, unfolded_max=7), set[tuple[int, int]]()
    for is_added, origin, number in steps:
        if is_added:
            recent.add(item_id(origin, number))
            oracle.add((origin, number))
        else:
            recent.discard(item_id(origin, number))
            oracle.discard((origin, number))
        assert all(
            (item_id(one, other) in recent) == ((one, other) in oracle)
            for one in range(3)
            for other in range(31)
        )
        assert len(recent) <= 7 + len(oracle)


def test_many_consecutive_identities_take_little_room() -> None:
    recent = RecentIds(10_000)
    for number in range(50_000):
        recent.add(item_id(number % 3, number // 3))
    assert len(recent) < 1_100


@given(known_sets, st.integers(0, 60), st.integers(0, 6))
def test_a_summary_of_all_of_one_or_of_the_others_is_cut_alike(
    steps: list[tuple[int, int, int]], most_bytes: int, chosen: int
) -> None:
    known = KnownItems()
    by_origin: dict[int, set[int]] = {}
    for origin, number, _ in steps:
        known.add(item_id(origin, number), 9)
        by_origin.setdefault(origin, set()).add(number)
    ranges = sorted((origin, ranges_of(numbers)) for origin, numbers in by_origin.items())
    only = [one for one in ranges if one[0] == chosen]
    others = [one for one in ranges if one[0] != chosen]
    whole = summary.encode(ranges, 48_000)
    for _ in range(2):  # the second answer comes from what was kept of the first
        cut, last = known.encode_part(0, LAST_NODE, most_bytes)
        assert last == LAST_NODE
        assert len(cut) <= most_bytes
        assert cut == whole or len(whole) > most_bytes
        summarized = summary.decode(cut)
        for origin, held in by_origin.items():
            told = summarized.ranges(origin)
            assert told is None or set(told.minus(None)) <= held
    assert known.encode_part(0, None, 48_000)[0] == whole
    assert known.encode_only(chosen, most_bytes) == summary.encode(only, most_bytes)
    assert known.encode_others(chosen, most_bytes) == summary.encode(others, most_bytes)
    nothing = summary.decode(b"")
    numbers = sorted(by_origin.get(chosen, ()))
    assert list(known.lacking_of(chosen, nothing)) == [item_id(chosen, number) for number in numbers]
    theirs = summary.decode(summary.encode(only, 48_000))
    assert list(known.lacking_of(chosen, theirs)) == []


def test_done_items_are_counted_and_forgotten_by_origin() -> None:
    known = KnownItems()
    for origin, number in ((1, 5), (2, 6), (1, 7)):
        known.add_released(item_id(origin, number), 50)
    known.add(item_id(1, 8), 50)
    assert (
        known.released_count,
        known.released_count_of(1),
        known.released_count_of(2),
        known.released_count_of(3),
    ) == (
        3,
        2,
        1,
        0,
    )
    assert (known.oldest_released(), known.oldest_released_of(1), known.oldest_released_of(2)) == (
        item_id(1, 5),
        item_id(1, 5),
        item_id(2, 6),
    )
    known.forget(item_id(9, 9))
    known.forget(item_id(1, 5))
    assert (known.oldest_released(), known.oldest_released_of(1)) == (item_id(2, 6), item_id(1, 7))
    known.forget(item_id(1, 7))
    assert (known.released_count, known.released_count_of(1), len(known)) == (1, 0, 2)


def test_where_both_know_the_same_origins_only_those_that_differ_are_read() -> None:
    ours, theirs = KnownItems(), KnownItems()
    for origin in range(40):
        for known in (ours, theirs):
            known.add(item_id(3 * origin, 7), 9)
    theirs.add(item_id(30, 8), 9)
    theirs.add(item_id(60, 9), 9)
    ours.add(item_id(90, 5), 9)
    compared = ours.compare(theirs.encode_part(0, None, 1_000)[0])
    assert [origin for origin in range(120) if compared.names(origin)] == [30, 60, 90]
    assert list(compared.lacking) == [item_id(90, 5)]


@pytest.mark.parametrize(
    ("mine", "yours"),
    [
        (range(0, 9), range(0, 5)),
        (range(0, 5), range(0, 9)),
        (range(0, 9), range(0, 9)),
        (range(3, 9), range(2, 5)),
        (range(0, 9, 2), range(0, 5, 2)),
        ([1, 2, 5, 6], [1, 2, 5]),
        ([1, 2, 5, 6], [1, 5, 6]),
        ([1], [0]),
        ([1], [2]),
        ([4], []),
    ],
)
def test_one_that_is_just_behind_lacks_what_came_since(mine: Iterable[int], yours: Iterable[int]) -> None:
    assert set(ranges_of(set(mine)).minus(ranges_of(set(yours)))) == set(mine) - set(yours)
    assert list(ranges_of(set(mine)).minus(None)) == sorted(set(mine))


def test_a_peer_that_never_heard_of_an_origin_lacks_all_of_it_whatever_it_has_of_the_next() -> None:
    mine, theirs = KnownItems(), KnownItems()
    for origin, number in ((1, 5), (1, 6), (2, 7), (4, 5)):
        mine.add(item_id(origin, number), 9)
    for origin, number in ((2, 5), (2, 6), (3, 5)):
        theirs.add(item_id(origin, number), 9)
    found = mine.compare(theirs.encode_part(0, None, 1_000)[0])
    assert found.lacking == [item_id(1, 5), item_id(1, 6), item_id(2, 7), item_id(4, 5)]
    assert item_id(2, 5) in found
    assert found.names(3)
    assert not found.names(1)


def test_where_nothing_differs_nothing_is_lacking_and_nothing_named() -> None:
    mine = KnownItems()
    mine.add(item_id(1, 5), 9)
    found = mine.compare(mine.encode_part(0, None, 1_000)[0])
    assert list(found.lacking) == []
    assert not found.names(1)
    assert item_id(1, 5) not in found
    assert found.ranges(1) is None


def test_an_identity_is_forgotten_also_where_many_are_held() -> None:
    recent = RecentIds(1_000, unfolded_max=4)
    for number in range(5):
        recent.add(item_id(3, number))
    assert (len(recent.recent), len(recent)) == (0, 1)
    recent.discard(item_id(3, 2))
    recent.discard(item_id(7, 2))
    assert [item_id(3, number) in recent for number in range(6)] == [True, True, False, True, True, False]
    few = RecentIds(1_000, unfolded_max=4)
    for number in range(4):
        few.add(item_id(3, number))
    assert len(few.recent) == 4


def test_a_summary_follows_origins_that_come_grow_and_go_at_once() -> None:
    known, fresh = KnownItems(), KnownItems()
    for origin in range(9):
        known.add(item_id(origin, 1), 9)
    known.encode_part(0, None, 1_000)[0]
    for origin in range(0, 9, 3):
        known.forget(item_id(origin, 1))
    for origin in (1, 2, 4, 5, 7, 8, 10):
        known.add(item_id(origin, 5), 9)
        for number in (1, 5) if origin < 9 else (5,):
            fresh.add(item_id(origin, number), 9)
    assert known.encode_part(0, None, 1_000)[0] == fresh.encode_part(0, None, 1_000)[0]
    size = len(known.encode_part(0, None, 1_000)[0])
    assert known.encode_part(0, None, size)[0] == known.encode_part(0, None, 1_000)[0]
    assert len(known.encode_part(0, LAST_NODE, size - 1)[0]) < size


@pytest.mark.parametrize("gone", range(12))
def test_forgetting_one_number_forgets_that_one_only(gone: int) -> None:
    """At the beginning, the end and in the middle of a range, alone, and where there is none."""
    members = {1, 3, 4, 5, 6, 9, 10}
    ranges = ranges_of(members)
    ranges.discard(gone)
    left = members - {gone}
    assert [number in ranges for number in range(14)] == [number in left for number in range(14)]
    assert list(ranges) == list(ranges_of(left))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("80", "a summary ends within a number (at byte 1)"),
        ("05", "a summary ends within a number (at byte 1)"),
        ("050007", "a summary ends within a number (at byte 3)"),
        ("0500078180", "a summary ends within a number (at byte 5)"),
        ("8000", "a number is not in its shortest form (at byte 1)"),
        ("0500078000", "a number is not in its shortest form (at byte 4)"),
        ("8080808080", "a number has more than 32 bits (at byte 5)"),
        ("ffffffff0700" + "0000" + "00000000", "an origin has more than 31 bits (at byte 10)"),
        ("0500808080800800", "a range reaches beyond the numbers of messages (at byte 8)"),
        ("0500ffffffff0701", "a range reaches beyond the numbers of messages (at byte 8)"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_at_which_byte(data: str, message: str) -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        summary.decode(bytes.fromhex(data))
    assert str(refused.value) == message


def test_last_origin_and_last_number_are_encodable() -> None:
    decoded = summary.decode(bytes.fromhex("ffffffff0700" + "ffffffff0700"))
    assert item_id(2**31 - 1, 2**31 - 1) in decoded
    assert summary.encode([(2**31 - 1, ranges_of({2**31 - 1}))], 100).hex() == "ffffffff0700ffffffff0700"


EDGES = sorted({edge + near for power in (7, 14, 21, 28) for edge in (1 << power,) for near in (-1, 0, 1)})
EDGES += [(0x7F << shift) + rest for shift in (7, 14, 21) for rest in (0, 1)]


@pytest.mark.parametrize("number", [0, 1, *EDGES, 2**31 - 1])
def test_numbers_at_byte_boundaries_round_trip(number: int) -> None:
    """As a start, as a length and as a gap between two ranges; with one byte less they are no number."""
    data = summary.varint(number)
    assert summary.read_varint(data, 0) == (number, len(data))
    with pytest.raises(RemoteProtocolError):
        summary.read_varint(data[:-1], 0)
    for starts, ends in (([number], [number]), ([0], [number]), ([0, number + 2], [0, number + 2])):
        if ends[-1] < 2**31:
            [(origin, ranges)] = summary.decode(
                summary.encode([(7, NumberRanges(starts, ends))], 100)
            )._by_origin.items()
            assert (origin, list(ranges)) == (7, list(zip(starts, ends, strict=True)))


@pytest.mark.parametrize("count", [1, 2, 127, 128, 129, 130, 257])
def test_any_ranges_and_origin_steps_round_trip(count: int) -> None:
    expected = [(origin, ranges_of(set(range(0, 2 * count, 2)))) for origin in (5, 5 + count, 60_000)]
    decoded = summary.decode(summary.encode(expected, 10_000))
    for origin, ranges in expected:
        assert list(decoded.ranges(origin) or ()) == list(ranges)


def test_origin_that_does_not_fit_is_encoded_in_part_within_the_limit() -> None:
    members = set(range(0, 400, 4))
    ranges = ranges_of(members)
    whole = summary.encode([(7, ranges)], 10_000)
    assert summary.encode([(7, ranges)], len(whole) + 4) == whole
    sizes = []  # a count may take five bytes, and room for it is kept
    for most_bytes in range(len(whole)):
        data = summary.encode([(7, ranges)], most_bytes)
        assert len(data) <= most_bytes
        starts = {start for start, _ in summary.decode(data).ranges(7) or ()}
        assert starts == set(sorted(members)[: len(starts)])
        sizes.append(len(starts))
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[8], sizes[-1]) == (0, 1, 97)


@pytest.mark.parametrize("most_bytes", range(6))
def test_an_origin_of_one_short_range_takes_four_bytes_or_none(most_bytes: int) -> None:
    data = summary.encode([(7, ranges_of({3, 4}))], most_bytes)
    assert data.hex() == ("07000301" if most_bytes >= 4 else "")


def test_item_known_again_after_being_forgotten_has_its_own_expiry() -> None:
    """Of its first life there is a stale entry in the heap; it ends nothing."""
    known = KnownItems()
    for number in (5, 6):
        known.add_released(item_id(1, number), 10)
        known.forget(item_id(1, number))
    known.add_released(item_id(1, 5), 20)
    known.add(item_id(1, 6), 10)
    assert known.pop_forgotten(19) is None
    assert item_id(1, 5) in known
    assert known.pop_expired(10) == (item_id(1, 6), 10)
    assert known.pop_forgotten(20) == item_id(1, 5)


def test_a_summary_that_fits_to_the_byte_is_not_cut() -> None:
    known = KnownItems()
    for number in (1, 5, 9):
        known.add(item_id(3, number), 9)
    whole = known.encode_part(0, None, 1_000)[0]
    assert known.encode_part(0, None, len(whole)) == (whole, LAST_NODE)
    assert known.encode_part(0, None, len(whole) - 1)[0] != whole
