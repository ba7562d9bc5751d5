"""Numbers of keys: a bijection between the keys that are held and numbers of 32 bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.fuzzy.matching.fast import FastMatcher
from plugins.kernels.paged_numbers import PagedNumbers
from plugins.kernels.rows.rows import RowStore
from plugins.key_numbers import FIRST_ALIAS, KeyNumbers
from watchdog.header import BODY_AT, body_of

EDGES = [0, 1, 255, 256, 65_535, 65_536, 0xFEFFFF, 0xFF0000, 0xFFFFFF, 1 << 24, (1 << 31) - 1]
keys = st.tuples(st.sampled_from(EDGES), st.sampled_from(EDGES))


@given(st.lists(st.tuples(st.booleans(), keys), max_size=40))
def test_law_held_keys_and_their_numbers_are_one_to_one(steps: list[tuple[bool, tuple[int, int]]]) -> None:
    numbers, held = KeyNumbers(), dict[tuple[int, int], int]()
    for is_taken, key in steps:
        if is_taken:
            number = numbers.take(key)
            assert held.setdefault(key, number) == number
        else:
            numbers.release(key)
            held.pop(key, None)
        assert len(set(held.values())) == len(held)
        for one, number in held.items():
            assert 0 <= number < 1 << 32
            assert (number < FIRST_ALIAS) == (one[0] < 0xFF0000 and one[1] < 256)
            assert numbers.key_of(number) == one
            assert numbers.number_of(one) == number


@pytest.mark.parametrize("key", [(-1, 0), (0, -1), (-1, 256), (1 << 24, -1)])
def test_negative_keys_are_refused(key: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="at least 0"):
        KeyNumbers().take(key)


@given(st.lists(st.tuples(st.sampled_from(EDGES), st.integers(1, 1 << 31))))
def test_law_paged_numbers_are_a_dictionary(pairs: list[tuple[int, int]]) -> None:
    one_by_one, at_once, expected = PagedNumbers(), PagedNumbers(), dict(pairs)
    for key, number in pairs:
        one_by_one.put(key, number)
    at_once.put_all(np.array(list(expected), np.uint32), np.array(list(expected.values()), np.uint32))
    for key in EDGES:
        assert one_by_one.get(key) == at_once.get(key) == expected.get(key, 0)


def test_keys_with_aliases_are_not_added_in_bulk() -> None:
    vector = np.frombuffer(bytes.fromhex("00000000000064c87f0101"), np.uint8).reshape(1, -1)
    matcher = FastMatcher(None)
    with pytest.raises(ValueError, match="one by one"):
        matcher.add_all(np.array([FIRST_ALIAS], np.uint32), vector[:, BODY_AT:])
    assert len(matcher) == 0


def test_a_change_of_form_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third row cannot be written, whatever the reason; the two before it have been."""
    body, told = bytes.fromhex("00000000000064c87f0101"), bytes.fromhex("000000000000960101")
    matcher = FastMatcher(None, columns_from=3)
    for origin in (1, 1 << 24, 3):
        matcher.add((origin, 0), body_of(body))
    before, written, put = matcher.match(told, 0, 0), [], RowStore.put

    def fails_once(store: RowStore, *row: object) -> None:
        written.append(row)
        if len(written) == 3:
            raise MemoryError
        put(store, *row)  # type: ignore[arg-type]

    monkeypatch.setattr(RowStore, "put", fails_once)
    with pytest.raises(MemoryError):
        matcher.add((4, 0), body_of(body))
    assert matcher.match(told, 0, 0) == before
    matcher.add((4, 0), body_of(body))
    assert [match.key[0] for match in matcher.match(told, 0, 0)] == [1, 3, 4, 1 << 24]
