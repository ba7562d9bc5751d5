"""Patterns and break-down functions against plain recursion over trees and exact fractions."""

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.watchdog.oracles import Tree, broken_down_tree, exact_tree, pattern_block
from tests.watchdog.strategies import table_blocks, trees
from watchdog import breakdown, pattern
from watchdog.blocks import block_fault


def evaluated(block: bytes, degrees: list[int], by_pairs: bool) -> int:
    k = len(degrees)
    return pattern.evaluate_pattern(b"?" + block, 1, bytearray(degrees) + bytearray(k), k, by_pairs)


SHORT_FORMS: list[tuple[str, int, int, Tree]] = [
    ("d2c1", 0x82, 3, ("or", [("and", [0, 1]), 2])),
    ("c3d1", 0x04, 4, ("and", [("or", [0, 1, 2]), 3])),
    ("d2c2c", 0x82, 4, ("or", [("and", [0, 1]), ("and", [2, 3])])),
    ("c2d1", 0x02, 3, ("and", [("or", [0, 1]), 2])),
    ("c12d", 0x01, 3, ("and", [0, ("or", [1, 2])])),
]


@pytest.mark.parametrize(("name", "code", "k", "tree"), SHORT_FORMS)
def test_the_papers_short_forms_are_one_byte(name: str, code: int, k: int, tree: Tree) -> None:
    block = bytes([1, code])
    assert pattern_block(tree, k) == block
    assert block_fault(block, 0, 15, k) is None
    for degrees in ([250, 100, 30, 40], [0, 255, 90, 7], [10, 20, 30, 40]):
        assert evaluated(block, degrees[:k], False) == exact_tree(tree, degrees)


@pytest.mark.parametrize("norm", [0, 1, 2])
@given(case=st.integers(1, 8).flatmap(lambda k: st.tuples(trees(k), st.binary(min_size=k, max_size=k))))
def test_patterns_agree_with_recursion(norm: int, case: tuple[Tree, bytes]) -> None:
    tree, degrees = case
    block = pattern_block(tree, len(degrees), norm)
    assert block_fault(block, 0, 14, len(degrees)) is None
    assert evaluated(block, list(degrees), False) == exact_tree(tree, list(degrees), norm)
    assert evaluated(block, list(degrees), True) == broken_down_tree(tree, list(degrees), norm)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("pairs", [False, True])
def test_a_norm_keeps_ones_zeros_and_order(norm: int, pairs: bool) -> None:
    both, either = (pattern_block((name, [0, 1]), 2, norm) for name in ("and", "or"))
    for a in range(256):
        assert evaluated(both, [a, 255], pairs) == evaluated(either, [a, 0], pairs) == a
        assert evaluated(both, [a, 0], pairs) == 0
        assert evaluated(either, [a, 255], pairs) == 255
        for b in range(0, 256, 5):
            conjunction = evaluated(both, [a, b], pairs)
            assert conjunction == evaluated(both, [b, a], pairs) <= min(a, b)
            assert conjunction == 255 - evaluated(either, [255 - a, 255 - b], pairs)
            assert a == 255 or conjunction <= evaluated(both, [a + 1, b], pairs)


def test_a_norm_is_written_only_where_it_matters_and_exists() -> None:
    assert block_fault(bytes([2, 193, 0]), 0, 15, 1) == (1, "a T-norm for one predicate")
    assert block_fault(bytes([2, 195, 128]), 0, 15, 2) == (1, "unknown token")
    assert block_fault(bytes([2, 192, 128]), 0, 15, 2) is not None
    assert block_fault(bytes([2, 194, 128]), 0, 15, 2) is None


@pytest.mark.parametrize(("name", "code", "k", "tree"), SHORT_FORMS)
def test_break_down_differs_from_exact_exactly_where_a_group_has_more_than_one_pair(
    name: str, code: int, k: int, tree: Tree
) -> None:
    chance = random.Random(4)
    rows = [[chance.randrange(256) for _ in range(k)] for _ in range(2000)]
    for norm in range(3):
        block = pattern_block(tree, k, norm)
        differing = sum(evaluated(block, row, False) != evaluated(block, row, True) for row in rows)
        assert (differing > 500) is (name == "c3d1")


def test_every_one_byte_pattern_that_is_accepted_has_its_own_meaning() -> None:
    for k in range(1, 6):
        seen: dict[tuple[int, ...], int] = {}
        for code in range(256):
            if block_fault(bytes([1, code]), 0, 15, k) is not None:
                continue
            table = tuple(
                evaluated(bytes([1, code]), [255 * (row >> i & 1) for i in range(k)], False)
                for row in range(1 << k)
            )
            assert table not in seen
            seen[table] = code
        # compositions of k, outer and or outer or; the two ways to write a flat one count once
        assert len(seen) == (1 if k == 1 else 2 * (2 ** (k - 1) - 1))


def test_an_and_of_three_with_one_failure_gets_a_third() -> None:
    assert evaluated(bytes([1, 128]), [255, 255, 0], True) == 85
    assert evaluated(bytes([1, 128]), [255, 255, 0], False) == 0


@given(st.integers(0, 255), st.integers(0, 255))
def test_groups_of_two_are_exact(a: int, b: int) -> None:
    for code in (0, 128):
        assert evaluated(bytes([1, code]), [a, b], True) == evaluated(bytes([1, code]), [a, b], False)


def real_pair(table: bytes, order: int, a: int, b: int) -> Fraction:
    """Σw·y/Σw over all rules, from the definition: triangular memberships between neighbouring centres."""
    r = table[0]
    centres = list(table[1 : 1 + r])

    def weight(m: int, x: int) -> Fraction:
        x = min(max(x, centres[0]), centres[-1])
        if m > 0 and centres[m - 1] <= x <= centres[m]:
            return Fraction(x - centres[m - 1], centres[m] - centres[m - 1])
        if m < r - 1 and centres[m] <= x <= centres[m + 1]:
            return Fraction(centres[m + 1] - x, centres[m + 1] - centres[m])
        return Fraction(0)

    total = Fraction(0)
    for m in range(r):
        for s in range(r):
            rule = 1 + r + (m * r + s) * (1 if order == 0 else 3)
            y = Fraction(table[rule])
            if order:
                d, e = (int.from_bytes(table[i : i + 1], "big", signed=True) for i in (rule + 1, rule + 2))
                y += Fraction(d * (a - centres[m]) + e * (b - centres[s]), 64)
            total += weight(m, a) * weight(s, b) * y
    return min(max(total, Fraction(0)), Fraction(255))


@given(st.integers(0, 1), st.data(), st.integers(0, 255), st.integers(0, 255))
def test_a_table_gives_the_fuzzy_mean_of_its_rules(order: int, data: st.DataObject, a: int, b: int) -> None:
    block = data.draw(table_blocks(2, 1 if order == 0 else 3))
    assert block_fault(block, 0, 7 + order, 2) is None
    found = breakdown.evaluate_function(block, 0, bytes([a, b]), 2, order)
    if block[1] == 2:
        assert abs(found - real_pair(block[2:], order, a, b)) <= Fraction(55, 100)


@given(st.integers(0, 1), st.data(), st.binary(min_size=3, max_size=4))
def test_several_pairs_are_averaged_or_summed(order: int, data: st.DataObject, a: bytes) -> None:
    block = data.draw(
        table_blocks(len(a), 1 if order == 0 else 3).filter(lambda block: block[1] in (2, 3, 5))
    )
    assert block_fault(block, 0, 7 + order, len(a)) is None
    size = block[2] ** 2 * (1 if order == 0 else 3)
    values = []
    for i in range(len(a)):
        for j in range(i + 1, len(a)):
            rules = 3 + block[2] + (size * len(values) if block[1] > 2 else 0) + 2 * (block[1] == 5)
            pair = bytes([2 + block[2] + size, 2]) + block[2 : 3 + block[2]] + block[rules : rules + size]
            values.append(breakdown.evaluate_function(pair, 0, bytes([a[i], a[j]]), 2, order))
    expected = int(Fraction(sum(values), len(values)) + Fraction(1, 2))
    if block[1] == 5:
        expected = min(max(sum(values) - int.from_bytes(block[3 + block[2] : 5 + block[2]], "big"), 0), 255)
    assert breakdown.evaluate_function(block, 0, a, len(a), order) == expected
