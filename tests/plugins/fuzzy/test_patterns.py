"""Patterns: bytes and trees mean the same, in one spelling, and the board evaluates what the tree means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.fuzzy.patterns import (
    Joined,
    Leaf,
    Not,
    Pattern,
    both,
    canonical,
    norm_of,
    pattern_bytes,
    pattern_from_bytes,
    ranks,
    short_form,
)
from watchdog.aggregators import PATTERN_BREAKDOWN, PATTERN_EXACT
from watchdog.blocks import block_fault
from watchdog.pattern import evaluate_pattern


@st.composite
def patterns(draw: st.DrawFn, most: int = 9, least: int = 1) -> Pattern:
    """Draw a tree that uses each of some predicates once, in any order and nesting."""
    count = draw(st.integers(least, most))
    parts: list[Pattern] = [Leaf(rank) for rank in draw(st.permutations(range(count)))]
    while len(parts) > 1:
        n = draw(st.integers(2, min(4, len(parts))))
        joined: Pattern = Joined(draw(st.sampled_from(["and", "or"])), tuple(parts[:n]))
        if draw(st.integers(0, 3)) == 0:
            joined = Not(joined)
        parts = draw(st.permutations([*parts[n:], joined]))
    return Not(parts[0]) if draw(st.integers(0, 3)) == 0 else parts[0]


@given(patterns(), st.integers(0, 2))
def test_law_a_norm_stands_before_the_pattern(pattern: Pattern, norm: int) -> None:
    count = len(ranks(pattern))
    block = pattern_bytes(pattern, norm)
    assert block_fault(bytes([len(block)]) + block, 0, PATTERN_EXACT, count) is None
    assert norm_of(block) == (norm if count > 1 else 0)
    assert pattern_from_bytes(block, count) == canonical(pattern)
    assert pattern_bytes(canonical(pattern)) == block[1 if norm and count > 1 else 0 :]


def exact_value(pattern: Pattern, degrees: list[int]) -> int:
    match pattern:
        case Leaf(rank):
            return degrees[rank]
        case Not(part):
            return 255 - exact_value(part, degrees)
        case Joined(connective, parts):
            values = [exact_value(part, degrees) for part in parts]
            return min(values) if connective == "and" else max(values)


def on_board(block: bytes, degrees: list[int], aggregator: int) -> int:
    room = bytearray([*degrees, *degrees])
    return evaluate_pattern(
        bytes([len(block)]) + block, 0, room, len(degrees), aggregator == PATTERN_BREAKDOWN
    )


@given(patterns(), st.data())
def test_law_bytes_mean_what_the_tree_means(pattern: Pattern, data: st.DataObject) -> None:
    count = len(ranks(pattern))
    block = pattern_bytes(pattern)
    assert block_fault(bytes([len(block)]) + block, 0, PATTERN_EXACT, count) is None
    degrees = data.draw(st.lists(st.integers(0, 255), min_size=count, max_size=count))
    assert on_board(block, degrees, PATTERN_EXACT) == exact_value(pattern, degrees)
    tree = pattern_from_bytes(block, count)
    assert tree == canonical(pattern)
    assert pattern_bytes(tree) == block


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        ("d2c1", 3, "82"),
        ("c2d1", 3, "02"),
        ("d2c2c", 4, "82"),
        ("c3d1", 4, "04"),
        ("c12d", 3, "01"),
        ("d12c", 3, "81"),
        ("c112d", 4, "03"),
        ("c2d12d", 5, "06"),
        ("c2c1", 3, "80"),
        ("d3d", 3, "00"),
        ("c1", 1, "00"),
    ],
)
def test_the_papers_short_forms(text: str, count: int, expected: str) -> None:
    assert pattern_bytes(short_form(text, list(range(count)))).hex() == expected


@pytest.mark.parametrize("text", ["", "d", "x2c1", "d2", "d1c1", "d2c0", "2c1d", "d02c1"])
def test_no_short_form(text: str) -> None:
    with pytest.raises(ValueError, match="not a short form"):
        short_form(text, [0, 1, 2])


def test_ten_and_more_are_a_size_where_there_are_so_many_predicates() -> None:
    twelve = tuple(map(Leaf, range(12)))
    assert short_form("c12d", list(range(12))) == Joined("or", twelve)
    assert short_form("d112c", list(range(13))) == Joined(
        "or", (Leaf(0), Joined("and", tuple(map(Leaf, range(1, 13)))))
    )
    with pytest.raises(ValueError, match="is for 3 or 12 predicates, there are 4"):
        short_form("c12d", [0, 1, 2, 3])


def test_a_short_form_counts_predicates_in_document_order() -> None:
    tree = short_form("d2c1", [2, 0, 1])
    assert exact_value(tree, [200, 50, 100]) == max(min(100, 200), 50)
    with pytest.raises(ValueError, match="is for 3 predicates, there are 2"):
        short_form("d2c1", [0, 1])


@given(patterns(most=6), st.data(), st.sampled_from([PATTERN_EXACT, PATTERN_BREAKDOWN]))
def test_law_a_condition_that_fails_ends_the_pattern(
    pattern: Pattern, data: st.DataObject, aggregator: int
) -> None:
    count = len(ranks(pattern))
    block = pattern_bytes(both(pattern, Leaf(count)))
    degrees = data.draw(st.lists(st.integers(0, 255), min_size=count, max_size=count))
    assert on_board(block, [*degrees, 0], aggregator) == 0
    alone = on_board(pattern_bytes(pattern), degrees, aggregator)
    assert on_board(block, [*degrees, 255], aggregator) == alone


def test_too_large_a_pattern_is_refused() -> None:
    leaves = tuple(map(Leaf, range(64)))
    assert len(pattern_bytes(Joined("and", leaves[:63]))) == 64
    with pytest.raises(ValueError, match="at most 63 operands"):
        pattern_bytes(Joined("and", leaves))


def test_the_longest_pattern_fits_into_a_block() -> None:
    longest: Pattern = Not(Leaf(0))
    for rank in range(1, 64):
        longest = Not(Joined("and", (longest, Not(Leaf(rank)))))
    block = pattern_bytes(longest)
    assert len(block) <= 255
    assert block_fault(bytes([len(block)]) + block, 0, PATTERN_EXACT, 64) is None
