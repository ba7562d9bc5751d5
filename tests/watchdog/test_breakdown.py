"""Break-down functions against exact rationals: what multiplies keeps its zeros, and the stated error holds
for every number of degrees.
"""

from fractions import Fraction
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.fuzzy.named_functions import NAMED
from tests.watchdog.strategies import generator_blocks
from watchdog import breakdown
from watchdog.blocks import NAMED_FUNCTIONS, block_fault

STATED = {0: Fraction(255, 100), 1: Fraction(48, 10)}
"""The error that watchdog/breakdown.py and docs/reference/vector-format.md state, of 255."""

both_functions = pytest.mark.parametrize("function", [0, 1])
some_degrees = st.lists(st.integers(0, 255), min_size=2, max_size=16)


def broken_down(function: int, degrees: list[int], order: int = 0) -> int:
    return breakdown.evaluate_function(bytes([1, function]), 0, bytes(degrees), len(degrees), order)


def is_within(found: int, function: int, degrees: list[int], error: Fraction) -> bool:
    """Whether a value is at most that far from the mean, by comparison of rationals alone."""
    if 0 in degrees:
        return found == 0
    n = len(degrees)
    if function == 1:
        return abs(found - n / sum(Fraction(1, a) for a in degrees)) <= error
    below, above = max(found - error, Fraction(0)), found + error
    return below**n <= prod(degrees) <= above**n


def test_what_is_stated_is_below_two_percent_and_the_same_everywhere() -> None:
    assert len(NAMED) == NAMED_FUNCTIONS
    stated = [round(255 * function.stated_error, 6) for function in NAMED]
    assert stated == [float(STATED[0]), float(STATED[1])]
    assert all(error <= Fraction(2, 100) * 255 for error in STATED.values())


@both_functions
def test_two_degrees_all_of_them(function: int) -> None:
    for a in range(256):
        for b in range(a, 256):
            found = broken_down(function, [a, b])
            assert is_within(found, function, [a, b], STATED[function]), (a, b)


@both_functions
@pytest.mark.parametrize("n", [3, 5, 8])
def test_two_degrees_in_every_proportion_which_is_the_worst_case(function: int, n: int) -> None:
    others = (1, 2, 4, 7, 12, 30, 80, 150, 200, 230, 244, 250, 254, 255)
    for a in range(1, 256, 1 if n < 8 else 3):
        for b in others:
            for m in range(1, n):
                degrees = [a] * m + [b] * (n - m)
                assert is_within(broken_down(function, degrees), function, degrees, STATED[function]), degrees


@both_functions
def test_the_worst_case_of_as_many_degrees_as_a_vector_can_have(function: int) -> None:
    for a in range(1, 256, 4):
        for b in (1, 4, 30, 150, 241, 254, 255):
            for m in (1, 2, 5, 32, 62):
                degrees = [a] * m + [b] * (64 - m)
                assert is_within(broken_down(function, degrees), function, degrees, STATED[function]), degrees


@both_functions
@given(degrees=some_degrees)
def test_any_degrees_in_both_orders(function: int, degrees: list[int]) -> None:
    found = broken_down(function, degrees)
    assert is_within(found, function, degrees, STATED[function])
    assert broken_down(function, degrees, 1) == found


@both_functions
@given(degrees=some_degrees, data=st.data())
def test_laws_of_means(function: int, degrees: list[int], data: st.DataObject) -> None:
    found = broken_down(function, degrees)
    assert min(degrees) <= found <= max(degrees)
    assert broken_down(function, data.draw(st.permutations(degrees))) == found
    place = data.draw(st.integers(0, len(degrees) - 1))
    higher = [*degrees]
    higher[place] = data.draw(st.integers(degrees[place], 255))
    assert broken_down(function, higher) >= found
    assert broken_down(function, [degrees[0]] * len(degrees)) == degrees[0]


@given(st.integers(2, 9).flatmap(lambda k: st.tuples(generator_blocks(k), st.binary(min_size=k, max_size=k))))
def test_a_generator_leads_there_and_back(case: tuple[bytes, bytes]) -> None:
    block, degrees = case
    k = len(degrees)
    assert block_fault(block, 0, 7, k) is None
    assert block_fault(block, 0, 8, k) == (1, "unknown function")
    r = block[2]
    centres = list(block[3 : 3 + r])
    values = [int.from_bytes(block[3 + r + 2 * i : 5 + r + 2 * i], "big") for i in range(r)]

    def generator(a: int) -> int:
        """Straight between the centres, constant outside, rounded half up."""
        if a <= centres[0]:
            return values[0]
        if a >= centres[-1]:
            return values[-1]
        m = max(i for i in range(r) if centres[i] <= a)
        share = Fraction(a - centres[m], centres[m + 1] - centres[m])
        return int(values[m] + share * (values[m + 1] - values[m]) + Fraction(1, 2))

    whole = block[3 + 3 * r]
    weights = list(block[4 + 3 * r :]) if whole else [1] * k
    found = breakdown.evaluate_function(block, 0, degrees, k, 0)
    if centres[0] and any(w and a == 0 for w, a in zip(weights, degrees, strict=True)):
        assert found == 0
        return
    total = Fraction(sum(w * generator(a) for w, a in zip(weights, degrees, strict=True)), whole or k)
    if total > values[0]:
        assert found == 0
        return
    if total <= values[-1]:
        assert found == centres[-1]
        return
    m = max(i for i in range(r) if values[i] >= total)
    exact = centres[m] + (centres[m + 1] - centres[m]) * (values[m] - total) / (values[m] - values[m + 1])
    assert abs(found - exact) <= Fraction(1, 2) + Fraction(1, 1000)


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ("04 02 01 ff 0010 0020 00", "a generator must fall"),
        ("04 02 01 ff 0010 0010 00", "a generator must fall"),
        ("04 02 ff 01 0020 0010 00", "the regions' centres must rise"),
        ("04 01 01 0010 00", "a table has 2 to 8 regions along each side, a generator 2 to 16"),
        ("04 02 01 ff 0020 0010", "the block's length does not agree with its tables"),
        ("04 02 01 ff 0020 0010 02 01", "the block's length does not agree with its tables"),
        ("04 02 01 ff 0020 0010 02", "the block's length does not agree with its tables"),
        ("04 02 01 ff 0020 0010 00 01", "the block's length does not agree with its tables"),
        ("04", "a table has 2 to 8 regions along each side, a generator 2 to 16"),
        ("05 02 00 ff 0000 00000000", "one pair has one table"),
        ("06", "unknown function"),
    ],
)
def test_invalid_generators(block: str, why: str) -> None:
    content = bytes.fromhex(block)
    fault = block_fault(bytes([len(content)]) + content, 0, 7, 2)
    assert fault is not None
    assert fault[1] == why
