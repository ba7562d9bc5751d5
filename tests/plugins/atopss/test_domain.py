"""Possibility and necessity over the domain: values end where their domain does."""

from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.mission_table import load_mission_table
from plugins.atopss.authoring.value_shapes import value_shape
from plugins.atopss.canonical import canonical
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.matching.algorithms import ALGORITHMS, matcher_named
from plugins.atopss.notifications import Notification
from plugins.atopss.real_degrees import real_degrees
from plugins.atopss.shapes.degrees import judged, necessity, possibility
from plugins.atopss.shapes.scale import INFINITE, TOP
from plugins.atopss.shapes.shapes import ANYTHING, Shape, at_least, at_most, interval, point
from plugins.atopss.subscriptions import Predicate
from plugins.atopss.vectors import encode_notification, encode_subscription
from tests.plugins.atopss.oracle import exact
from tests.plugins.atopss.shapes import drawn, shapes

HOUSING = load_mission_table(["housing"])
RENT, LENGTH = 0, 5000
CHEAP = at_most(1200, 1500)


@st.composite
def on_axis(draw: st.DrawFn, *, is_value: bool) -> tuple[Shape, int]:
    """Shapes around a short domain; something of the core of a value lies in it."""
    length = draw(st.integers(0, 12))
    corners = st.integers(-4, length + 4)
    ends = st.sampled_from([0, length])
    m1, m2, m3, m4 = sorted(draw(st.one_of(corners, ends)) for _ in range(4))
    if draw(st.sampled_from([False, False, True])):
        m1 = m2 = -INFINITE
    if draw(st.sampled_from([False, False, True])):
        m3 = m4 = INFINITE
    if is_value and m2 > length:
        m1, m2 = min(m1, 0), draw(st.integers(0, length))
    if is_value and m3 < 0:
        m3, m4 = draw(st.integers(max(m2, 0), length)), max(m4, length)
    bent = draw(shapes())
    left, right = bent.left if m1 < m2 else 0, bent.right if m3 < m4 else 0
    return Shape(m1, m2, m3, m4, left, right), length


@given(wanted=on_axis(is_value=False), value=on_axis(is_value=True), complement=st.booleans())
def test_law_degrees_are_those_over_the_domain(
    wanted: tuple[Shape, int], value: tuple[Shape, int], complement: bool
) -> None:
    mu, (pi, length) = wanted[0], value
    found = exact(drawn(mu), drawn(pi), complement=complement, domain=(0, length))
    known = pi.within(length)
    assert judged(mu, known, complement=complement) == tuple(floor(TOP * degree) for degree in found)
    reals = real_degrees(mu, known, complement=complement)
    assert all(abs(real - degree) < 1e-9 for real, degree in zip(reals, found, strict=True))
    if not complement:
        up = possibility(mu, known, up=True), necessity(mu, known, up=True)
        assert up == tuple(ceil(TOP * degree) for degree in found)


@given(value=on_axis(is_value=True), x=st.integers(-6, 18))
def test_law_within_a_domain_a_value_is_what_it_was(value: tuple[Shape, int], x: int) -> None:
    shape, length = value
    known = shape.within(length)
    assert known.within(length) == known
    for k in (1, 255, TOP):
        assert known.contains(x, k) == (0 <= x <= length and shape.contains(x, k))


@given(shape=shapes(reach=30), length=st.integers(0, 20))
def test_law_a_value_outside_of_its_domain_is_its_end(shape: Shape, length: int) -> None:
    """A source may read more than the domain has; one-byte readings end there too."""
    known = shape.within(length)
    assert 0 <= known.m2 <= known.m3 <= length
    assert judged(interval(0, length), known) == (TOP, TOP)
    if shape.m1 > length:
        assert known == point(length)


CASES = [
    (interval(0, 1500), False, "cheap", (TOP, TOP)),
    (at_most(1500), False, "cheap", (TOP, TOP)),
    (at_least(0), False, "cheap", (TOP, TOP)),
    (at_least(0), False, "?", (TOP, TOP)),
    (interval(0, 5000), False, "?", (TOP, TOP)),
    (interval(0, 5000), True, "?", (0, 0)),
    (interval(0, 4999), True, "?", (TOP, 0)),
    (interval(0, 4999), True, "0..4999", (0, 0)),
    (CHEAP, False, "cheap", (TOP, TOP // 2)),
    (Shape(-300, 300, 400, 500), False, "0..400", (TOP, TOP // 2)),
]


@pytest.mark.parametrize(("wanted", "complement", "text", "degrees"), CASES)
def test_cases_of_rents(wanted: Shape, complement: bool, text: str, degrees: tuple[int, int]) -> None:
    rent = HOUSING.event("apartment").attribute("rent")
    known = AtopssCodec(HOUSING).known(3, {RENT: value_shape(text, rent, rent.unit)})[RENT]
    assert judged(wanted, known, complement=complement) == degrees


@pytest.mark.parametrize("name", sorted(ALGORITHMS.keys() - {"crisp"}))
@pytest.mark.parametrize("many", [False, True])
def test_every_algorithm_is_certain_of_cheap_rents(name: str, many: bool) -> None:
    matcher = matcher_named(name, HOUSING)
    for number in range(300 if many else 1):
        sure = canonical(3, Predicate(RENT, interval(0, 1500 + number)), necessity=30)
        matcher.add((number, 0), encode_subscription(sure))
    told = encode_notification(Notification(0, 0, 0, 3, {RENT: CHEAP}))
    assert [(match.degree_u8, match.detail) for match in matcher.match(told, 0, 0)] == [(255, b"\xff")] * (
        300 if many else 1
    )


def test_without_a_mission_values_have_no_ends() -> None:
    """Vectors of version 1 are judged as ever where no table says how long an axis is."""
    assert judged(interval(0, 1500), CHEAP) == (TOP, 0)
    assert AtopssCodec(None).known(3, {RENT: ANYTHING}) == {RENT: ANYTHING}


def test_a_side_that_crosses_an_end_is_cut_off() -> None:
    """Known is (−6, 2, 2, 4), wanted rises from −6 to 6: over the domain the worst is at 0."""
    wanted, value = at_least(-6, 6), Shape(-6, 2, 2, 4)
    assert exact(drawn(wanted), drawn(value), domain=(0, 10))[1] == Fraction(1, 2)
    assert judged(wanted, value.within(10))[1] == TOP // 2
    assert judged(wanted, value)[1] < TOP // 2
    assert judged(interval(-5, -3), value.within(10)) == (0, 0)
