"""Ways around obstacles: they touch none, and no other chain of corners is shorter."""

from itertools import pairwise, permutations
from math import cos, dist, pi, sin

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from emulation.mobility.ground import CLEARANCE_M, ConvexPolygon, Ground, Point, is_convex
from tests.sizes import examples


def regular(
    x: float, y: float, radius: float, corners: int, turn: float, clockwise: bool
) -> tuple[Point, ...]:
    step = (-2 if clockwise else 2) * pi / corners
    return tuple(
        (x + radius * cos(turn + step * i), y + radius * sin(turn + step * i)) for i in range(corners)
    )


polygons = st.builds(
    regular,
    st.floats(20, 80),
    st.floats(20, 80),
    st.floats(3, 18),
    st.integers(3, 6),
    st.floats(0, 6),
    st.booleans(),
).map(ConvexPolygon)
points = st.tuples(st.floats(0, 100), st.floats(0, 100))


def inside(polygon: ConvexPolygon, x: float, y: float, slack: float = 0.0) -> bool:
    """The definition: on the same side of every edge."""
    sides = []
    for (x0, y0), (x1, y1) in pairwise((*polygon.corners, polygon.corners[0])):
        sides.append(((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)) / dist((x0, y0), (x1, y1)))
    return min(sides) >= -slack or max(sides) <= slack


def sampled_clear(obstacles: list[ConvexPolygon], begin: Point, end: Point) -> bool:
    """Look along the line; blind to what is thinner than its step."""
    for share in np.linspace(0.0, 1.0, 400):
        x, y = begin[0] + share * (end[0] - begin[0]), begin[1] + share * (end[1] - begin[1])
        if any(inside(polygon, x, y) for polygon in obstacles):
            return False
    return True


@given(polygons, points, points)
@settings(max_examples=examples(200), deadline=None)
def test_a_line_is_blocked_iff_it_touches(polygon: ConvexPolygon, begin: Point, end: Point) -> None:
    blocked = polygon.blocks(begin, end)
    if blocked:  # a hit may be thinner than the step of the sampling: a little more polygon is allowed
        lines = zip(*(np.linspace(a, b, 2000) for a, b in zip(begin, end, strict=True)), strict=True)
        assert any(inside(polygon, x, y, 0.1) for x, y in lines)
    else:
        assert sampled_clear([polygon], begin, end)
    if inside(polygon, *begin, -1e-9):
        assert polygon.contains(*begin)
    elif not inside(polygon, *begin, 1e-9):
        assert not polygon.contains(*begin)


@given(st.lists(polygons, min_size=1, max_size=2), points, points)
@settings(max_examples=examples(60), deadline=None)
def test_a_way_is_free_and_the_shortest_of_all_chains_of_corners(
    obstacles: list[ConvexPolygon], begin: Point, end: Point
) -> None:
    ground = Ground(100.0, 100.0, tuple(obstacles))
    assume(ground.is_free(*begin))
    assume(ground.is_free(*end))
    way = ground.way(begin, end)
    assert way is not None  # obstacles this small cannot wall anybody in
    assert way[-1] == end
    for here, there in pairwise([begin, *way]):
        assert sampled_clear(obstacles, here, there)
    length = sum(dist(here, there) for here, there in pairwise([begin, *way]))
    assert length >= dist(begin, end) - 1e-9
    corners = [
        (float(x), float(y))
        for polygon in obstacles
        for x, y in polygon.outer_corners()
        if ground.is_free(x, y)
    ]
    for chain in [(), *((corner,) for corner in corners), *permutations(corners, 2)]:
        stops = [begin, *chain, end]
        if all(not any(polygon.blocks(a, b) for polygon in obstacles) for a, b in pairwise(stops)):
            assert length <= sum(dist(a, b) for a, b in pairwise(stops)) + 1e-9


def test_obstacles_that_touch_leave_no_slit() -> None:
    left = ConvexPolygon(((40.0, 0.0), (50.0, 0.0), (50.0, 60.0), (40.0, 60.0)))
    right = ConvexPolygon(((50.0, 0.0), (60.0, 0.0), (60.0, 60.0), (50.0, 60.0)))
    way = Ground(100.0, 100.0, (left, right)).way((50.0, 70.0), (50.0, 99.0))
    assert way == [(50.0, 99.0)]
    around = Ground(100.0, 100.0, (left, right)).way((10.0, 10.0), (90.0, 10.0))
    assert around is not None
    assert max(y for _, y in around) == pytest.approx(60 + CLEARANCE_M * 2**-0.5)


def test_who_is_walled_in_has_no_way() -> None:
    wall = ConvexPolygon(((40.0, 0.0), (60.0, 0.0), (60.0, 100.0), (40.0, 100.0)))
    assert Ground(100.0, 100.0, (wall,)).way((10.0, 10.0), (90.0, 10.0)) is None


@pytest.mark.parametrize(
    ("corners", "convex"),
    [
        (((0.0, 0.0), (4.0, 0.0), (4.0, 3.0)), True),
        (((4.0, 3.0), (4.0, 0.0), (0.0, 0.0)), True),
        (((0.0, 0.0), (4.0, 0.0), (8.0, 0.0)), False),  # a line
        (((0.0, 0.0), (4.0, 0.0), (4.0, 0.0), (4.0, 4.0)), False),  # a corner twice
        (((0.0, 0.0), (4.0, 0.0), (1.0, 1.0), (0.0, 4.0)), False),  # a dent
        (((0.0, 0.0), (4.0, 4.0), (4.0, 0.0), (0.0, 4.0)), False),  # a bow
        (regular(0, 0, 5, 5, 0, False)[::2] + regular(0, 0, 5, 5, 0, False)[1::2], False),  # a star
    ],
)
def test_what_is_convex(corners: tuple[Point, ...], convex: bool) -> None:
    assert is_convex(corners) is convex
