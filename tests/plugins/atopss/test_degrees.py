"""Possibility and necessity: closed forms and levels against the definition, and the laws of part C."""

from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.atopss.shapes.degrees import Degrees, judged, necessity, possibility
from plugins.atopss.shapes.profiles import GAUSSIAN, HEDGES
from plugins.atopss.shapes.scale import INFINITE, byte_of
from plugins.atopss.shapes.shapes import Shape, at_least, at_most, interval, point
from tests.plugins.atopss.oracle import exact
from tests.plugins.atopss.shapes import GOLDEN, drawn, golden_shape, shapes

OLD = at_least(40, 80)
CHEAP = at_most(1200, 1500)
HIGH = at_least(3700, 3850)
VERY, LESS, INDEED = HEDGES["very"], HEDGES["more_or_less"], HEDGES["indeed"]

CASES: list[tuple[Shape, bool, Shape, Degrees]] = [
    (Shape(40, 50, 70, 80), False, point(60), (255, 255)),
    (at_most(450), False, CHEAP, (255, 0)),
    (at_most(1500), False, CHEAP, (255, 255)),
    (Shape(40, 80, 120, 160), False, Shape(56, 96, 100, 110), (255, 178)),
    (HIGH, False, point(3820), (204, 204)),
    (HIGH, False, interval(3790, 3850), (255, 153)),
    (HIGH, False, Shape(3790, 3820, 3820, 3850), (212, 170)),
    (Shape(0, 10, 20, 30), False, Shape(25, 40, 50, 60), (51, 0)),
    (OLD, False, at_least(50, 60), (255, 102)),
    (OLD, False, at_most(50, 70), (127, 0)),
    (OLD, False, Shape(30, 50, 50, 70), (127, 42)),
    (OLD, True, Shape(30, 50, 50, 70), (212, 127)),
    (OLD, True, interval(20, 45), (255, 223)),
    (interval(3, 5), False, interval(5, 7), (255, 0)),
    (interval(3, 5), False, Shape(4, 5, 5, 6), (255, 0)),
    (Shape(0, 10, 20, 30), False, Shape(0, 10, 20, 30), (255, 127)),
    (at_least(40, 80, VERY), False, point(60), (63, 63)),
    (at_least(40, 80, VERY), True, point(60), (191, 191)),
    (at_least(120, 240, VERY), False, Shape(150, 190, 198, 248), (163, 63)),
    (at_least(0, 160, LESS), False, Shape(4, 12, 20, 60), (127, 63)),
    (at_least(0, 100, INDEED), False, point(25), (31, 31)),
    (
        Shape(667, 1000, 1000, 1333, GAUSSIAN, GAUSSIAN),
        False,
        Shape(1133, 1300, 1300, 1467, GAUSSIAN, GAUSSIAN),
        (34, 2),
    ),
]
"""The cases of the specification, in its order."""


def told(degrees: Degrees) -> Degrees:
    """Return degrees as bytes."""
    return byte_of(degrees[0]), byte_of(degrees[1])


@pytest.mark.parametrize("case", CASES, ids=lambda case: "")
def test_golden_case(case: tuple[Shape, bool, Shape, Degrees]) -> None:
    wanted, complement, value, degrees = case
    assert told(judged(wanted, value, complement=complement)) == degrees


def test_golden_pairs() -> None:
    for pair in GOLDEN["pairs"]:
        wanted, value = golden_shape(pair["mu"]), golden_shape(pair["pi"])
        assert list(told(judged(wanted, value))) == pair["bytes"]
        assert list(told(judged(wanted, value, complement=True))) == pair["bytes_of_complement"]


def test_the_oracle_agrees_with_the_golden_pairs() -> None:
    for pair in GOLDEN["pairs"][::25]:
        found = exact(drawn(golden_shape(pair["mu"])), drawn(golden_shape(pair["pi"])))
        assert [floor(255 * degree) for degree in found] == pair["bytes"]
        assert [str(degree) for degree in found] == [pair["possibility"], pair["necessity"]]


@given(wanted=shapes(curved=False), value=shapes(curved=False))
def test_law_closed_forms_are_the_definition(wanted: Shape, value: Shape) -> None:
    possible, necessary = exact(drawn(wanted), drawn(value))
    assert judged(wanted, value) == (floor(510 * possible), floor(510 * necessary))
    assert possibility(wanted, value, up=True) == ceil(510 * possible)
    assert necessity(wanted, value, up=True) == ceil(510 * necessary)
    opposite = exact(drawn(wanted), drawn(value), complement=True)
    assert judged(wanted, value, complement=True) == tuple(floor(510 * degree) for degree in opposite)
    assert opposite == (1 - necessary, 1 - possible)


@given(wanted=shapes(), value=shapes())
def test_law_levels_are_the_definition(wanted: Shape, value: Shape) -> None:
    possible, necessary = exact(drawn(wanted), drawn(value))
    assert judged(wanted, value) == (floor(510 * possible), floor(510 * necessary))
    up = possibility(wanted, value, up=True), necessity(wanted, value, up=True)
    assert up == (ceil(510 * possible), ceil(510 * necessary))


@given(wanted=shapes(), value=shapes(), complement=st.booleans())
def test_law_what_is_necessary_is_possible(wanted: Shape, value: Shape, complement: bool) -> None:
    possible, necessary = judged(wanted, value, complement=complement)
    assert possible >= necessary


@given(wanted=shapes(), value=shapes())
def test_law_the_ends_of_both_scales(wanted: Shape, value: Shape) -> None:
    possible, necessary = judged(wanted, value)
    assert (possible == 510) == (wanted.m2 <= value.m3 and value.m2 <= wanted.m3)
    is_apart = _is_before(wanted.m4, wanted.m3, value.m1, value.m2) or _is_before(
        value.m4, value.m3, wanted.m1, wanted.m2
    )
    assert (possibility(wanted, value, up=True) == 0) == is_apart
    assert (necessary == 510) == (wanted.m2 <= value.m1 and value.m4 <= wanted.m3)


def _is_before(end: int, core_end: int, begin: int, core_begin: int) -> bool:
    """Return whether one support ends before another begins; upright ends belong to their shapes."""
    return end < begin or (end == begin and (end != core_end or begin != core_begin))


@given(wanted=shapes(), value=shapes())
def test_law_when_nothing_is_necessary(wanted: Shape, value: Shape) -> None:
    """A core point of the value that is not wanted at all; or, as a limit, one at an upright side."""
    core_left, core_right = max(value.m2, -100), min(value.m3, 100)
    is_outside = any(not wanted.contains(x, 1) and _degree_is_0(wanted, x) for x in (core_left, core_right))
    none = necessity(wanted, value, up=True) == 0
    assert not is_outside or none
    at_upright = (wanted.m1 == wanted.m2 == value.m2 and value.m1 < value.m2) or (
        wanted.m3 == wanted.m4 == value.m3 and value.m3 < value.m4
    )
    assert not none or is_outside or at_upright


def _degree_is_0(shape: Shape, x: int) -> bool:
    """Return whether the degree is 0, not only below 1/255."""
    is_left = x < shape.m1 or (x == shape.m1 < shape.m2)
    is_right = x > shape.m4 or (x == shape.m4 > shape.m3)
    return is_left or is_right


@given(wanted=shapes(), x=st.integers(-2, 42))
def test_law_a_point_has_one_degree(wanted: Shape, x: int) -> None:
    possible, necessary = judged(wanted, point(x))
    assert possible == necessary
    assert wanted.contains(x, possible)
    assert possible == 510 or not wanted.contains(x, possible + 1)


@given(wanted=shapes(), value=shapes(), share=st.fractions(0, 1))
def test_law_a_fully_possible_point_lies_between_both(wanted: Shape, value: Shape, share: Fraction) -> None:
    low, high = max(value.m2, -5), min(value.m3, 45)
    x = low + int((high - low) * share) if low <= high else value.m2
    possible, necessary = judged(wanted, value)
    degree, _ = judged(wanted, point(x))
    assert necessary <= degree <= possible


@given(value=shapes(), more=st.tuples(*[st.integers(0, 9)] * 4))
def test_law_what_lies_within_is_at_least_half_necessary(value: Shape, more: tuple[int, ...]) -> None:
    wider = _widened(value, more)
    assert judged(wider, value)[1] >= 255
    if value.m1 < value.m2 or value.m3 < value.m4:
        assert exact(drawn(value), drawn(value)) == (Fraction(1), Fraction(1, 2)) or not value.is_straight
        assert not value.is_straight or judged(value, value) == (510, 255)


@given(wanted=shapes(), value=shapes(), more=st.tuples(*[st.integers(0, 9)] * 4))
def test_law_wider_shapes(wanted: Shape, value: Shape, more: tuple[int, ...]) -> None:
    possible, necessary = judged(wanted, value)
    wider = judged(_widened(wanted, more), value)
    assert wider[0] >= possible
    assert wider[1] >= necessary
    vaguer = judged(wanted, _widened(value, more))
    assert vaguer[0] >= possible
    assert vaguer[1] <= necessary


def _widened(shape: Shape, more: tuple[int, ...]) -> Shape:
    """Return a shape that lies above another one everywhere, with the same profiles."""
    a, b, c, d = more
    m1, m2, m3, m4 = shape.m1 - a - b, shape.m2 - b, shape.m3 + c, shape.m4 + c + d
    if shape.m2 == -INFINITE or shape.m1 == shape.m2:
        m1 = m2 = max(m2, -INFINITE) if shape.m2 != -INFINITE else -INFINITE
    if shape.m3 == INFINITE or shape.m3 == shape.m4:
        m4 = m3 = INFINITE if shape.m3 == INFINITE else m3
    return Shape(m1, m2, m3, m4, shape.left, shape.right)
