"""The exact detector against a slow one that shares nothing with it: fifty digits, all pairs, textbook."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulation.contacts.detection import _slab_length_ms, find_contacts
from emulation.mobility.model import Area, Legs
from emulation.mobility.random_waypoint import RandomWaypoint
from emulation.random.rng import RandomStreams
from tests.emulation.contacts.slow_detector import (
    Interval,
    Point,
    assert_same,
    legs,
    points_of,
    rows,
    slow,
    walks_of,
)
from tests.sizes import examples


@given(walks_of(), st.lists(st.sampled_from([5.0, 25.0, 50.0, 65.0]), min_size=4, max_size=4))
@settings(max_examples=examples(120), deadline=None)
def test_agrees_with_the_slow_detector(walks: list[list[Point]], ranges: list[float]) -> None:
    found = rows(find_contacts([legs(points) for points in walks], ranges[: len(walks)], 200_000.0))
    # A pair that nearly stands still relative to each other crosses the border slowly: 10⁻⁹ m are then
    # many ms.
    assert_same(found, slow(walks, ranges), slack=0.05)


def test_agrees_with_the_slow_detector_on_random_waypoint() -> None:
    streams = RandomStreams(3)
    model = RandomWaypoint((0.5, 15.0), (0.0, 60.0))
    walks = model.walks(
        Area(800.0, 600.0), 1_800_000.0, [streams.rng("m", i) for i in range(14)], streams.rng("m")
    )
    points = [points_of(walk) for walk in walks]
    ranges = [40.0 + 5.0 * (node % 5) for node in range(14)]
    found, oracle = rows(find_contacts(walks, ranges, 1_800_000.0)), slow(points, ranges)
    assert len(found) > 100
    assert [row[:2] for row in found] == [row[:2] for row in oracle]
    assert [row[2] for row in found] == pytest.approx([row[2] for row in oracle], abs=1e-4)
    assert [row[3] for row in found] == pytest.approx([row[3] for row in oracle], abs=1e-4)


def test_a_tiny_range_does_not_take_long() -> None:
    """Twelve hours were once cut into slabs of the time in which two millimetres are walked."""
    streams = RandomStreams(3)
    walks = RandomWaypoint((0.5, 1.5), (0.0, 120.0)).walks(
        Area(1000.0, 1000.0), 43_200_000.0, [streams.rng("m", i) for i in range(20)], streams.rng("m")
    )
    ranges = np.full(20, 0.001)
    assert len(find_contacts(walks, ranges.tolist(), 43_200_000.0).a) == 0
    assert 43_200_000.0 / _slab_length_ms(walks, ranges, 43_200_000.0) < 5_000
    assert _slab_length_ms(walks, 50_000 * ranges, 43_200_000.0) == pytest.approx(
        2 * 50_000.0 * 0.001 / mean_speed(walks)
    )


def mean_speed(walks: list[Legs]) -> float:
    """Return how many metres a usual node goes in a millisecond."""
    paths = [float(np.hypot(walk.x1_m - walk.x0_m, walk.y1_m - walk.y0_m).sum()) for walk in walks]
    return sum(paths) / len(paths) / 43_200_000.0


def still(x: float, y: float = 0.0) -> list[Point]:
    return [(0.0, x, y), (100_000.0, x, y)]


def passing(x0: float, x1: float, y: float = 0.0) -> list[Point]:
    return [(0.0, x0, y), (100_000.0, x1, y)]


@pytest.mark.parametrize(
    ("walks", "expected"),
    [
        pytest.param([still(0), still(10)], [(0, 1, 0.0, 1e5)], id="standing exactly at the range"),
        pytest.param([still(0), still(10.001)], [], id="standing just outside"),
        pytest.param([still(0), passing(-100, 100)], [(0, 1, 45e3, 55e3)], id="passing through"),
        pytest.param([still(0), passing(-100, 100, 10.0)], [], id="grazing makes no contact"),
        pytest.param([still(0), passing(-100, 100, 8.0)], [(0, 1, 47e3, 53e3)], id="a chord"),
        pytest.param([passing(0, 90), passing(9, 99)], [(0, 1, 0.0, 1e5)], id="equal velocity inside"),
        pytest.param([passing(0, 90), passing(11, 101)], [], id="equal velocity outside"),
        pytest.param([passing(0, 90), passing(0, 90)], [(0, 1, 0.0, 1e5)], id="the same walk"),
        pytest.param(
            [still(0), [(0.0, 50, 0), (40e3, 10, 0), (40e3, 10, 0), (80e3, -30, 0), (1e5, -30, 0)]],
            [(0, 1, 40e3, 60e3)],
            id="a leg of no length at the border",
        ),
        pytest.param(
            [still(0), [(0.0, 5, 0), (50e3, 10, 0), (1e5, 5, 0)]],
            [(0, 1, 0.0, 1e5)],
            id="touching the border from inside does not cut",
        ),
        pytest.param(
            [still(0), [(0.0, -1e6, 0), (100.0, 1e6, 0), (1e5, 1e6, 0)]],
            [(0, 1, 49.9995, 50.0005)],
            id="too fast for any step",
        ),
    ],
)
def test_corner_cases(walks: list[list[Point]], expected: list[Interval]) -> None:
    found = rows(find_contacts([legs(points) for points in walks], [10.0] * len(walks), 100_000.0))
    assert [row[:2] for row in found] == [row[:2] for row in expected]
    for row, wanted in zip(found, expected, strict=True):
        assert row[2:] == pytest.approx(wanted[2:], abs=1e-6)


def test_a_contact_that_is_still_open_at_the_end_is_censored() -> None:
    found = find_contacts([legs(still(0)), legs(passing(-100, 0)), legs(passing(0, 100))], [10.0] * 3, 1e5)
    assert list(zip(found.a.tolist(), found.b.tolist(), found.censored.tolist(), strict=True)) == [
        (0, 2, False),
        (0, 1, True),
    ]


def test_one_node_or_none_has_no_contacts() -> None:
    assert len(find_contacts([], [], 1e5)) == 0
    assert len(find_contacts([legs(still(0))], [10.0], 1e5)) == 0


@given(walks_of(), st.randoms(use_true_random=False))
@example([still(0), passing(-100, 100), passing(0, 100)], None)
@settings(max_examples=examples(50), deadline=None)
def test_the_order_of_nodes_does_not_matter(walks: list[list[Point]], rng: object) -> None:
    there = rows(find_contacts([legs(points) for points in walks], [25.0] * len(walks), 200_000.0))
    back = rows(find_contacts([legs(points) for points in walks[::-1]], [25.0] * len(walks), 200_000.0))
    last = len(walks) - 1
    turned = sorted((last - b, last - a, begin, end) for a, b, begin, end in back)
    assert_same(there, turned, slack=0.05)
