"""The exact detector against a slow one that shares nothing with it: fifty digits, all pairs, textbook."""

from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulation.contacts.contact import Contacts
from emulation.contacts.detection import find_contacts
from emulation.mobility.model import Area, Legs
from emulation.mobility.random_waypoint import RandomWaypoint
from emulation.streams import Streams

Point = tuple[float, float, float]
"""(time, x, y)"""
Interval = tuple[int, int, float, float]


def legs(points: list[Point]) -> Legs:
    rows = [(t0, t1, x0, y0, x1, y1) for (t0, x0, y0), (t1, x1, y1) in pairwise(points)]
    return Legs(*(np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)))


def slow_pair(one: list[Point], other: list[Point], reach: float) -> list[tuple[Decimal, Decimal]]:
    """Solve every pair of legs of two nodes with fifty digits."""
    pieces = []
    for (t0, x0, y0), (t1, x1, y1) in pairwise(one):
        for (u0, p0, q0), (u1, p1, q1) in pairwise(other):
            begin, end = Decimal(max(t0, u0)), Decimal(min(t1, u1))
            if begin >= end:
                continue
            vx = Decimal(x1 - x0) / Decimal(t1 - t0) - Decimal(p1 - p0) / Decimal(u1 - u0)
            vy = Decimal(y1 - y0) / Decimal(t1 - t0) - Decimal(q1 - q0) / Decimal(u1 - u0)
            # Distance at time t: (cx + vx·t, cy + vy·t).
            cx = Decimal(x0) - Decimal(x1 - x0) / Decimal(t1 - t0) * Decimal(t0)
            cx -= Decimal(p0) - Decimal(p1 - p0) / Decimal(u1 - u0) * Decimal(u0)
            cy = Decimal(y0) - Decimal(y1 - y0) / Decimal(t1 - t0) * Decimal(t0)
            cy -= Decimal(q0) - Decimal(q1 - q0) / Decimal(u1 - u0) * Decimal(u0)
            a, b, c = vx * vx + vy * vy, 2 * (cx * vx + cy * vy), cx * cx + cy * cy - Decimal(reach) ** 2
            if a < Decimal("1e-30"):
                if c <= Decimal("1e-20"):
                    pieces.append((begin, end))
                continue
            discriminant = b * b - 4 * a * c
            if discriminant < 0:
                continue
            root = discriminant.sqrt()
            enter, leave = max(begin, (-b - root) / (2 * a)), min(end, (-b + root) / (2 * a))
            if enter <= leave:
                pieces.append((enter, leave))
    pieces.sort()
    merged: list[tuple[Decimal, Decimal]] = []
    for enter, leave in pieces:
        if merged and enter - merged[-1][1] <= Decimal("1e-6"):
            merged[-1] = (merged[-1][0], max(merged[-1][1], leave))
        else:
            merged.append((enter, leave))
    return merged


def slow(walks: list[list[Point]], ranges: list[float]) -> list[Interval]:
    with localcontext(prec=50):
        return [
            (a, b, float(enter), float(leave))
            for a in range(len(walks))
            for b in range(a + 1, len(walks))
            for enter, leave in slow_pair(walks[a], walks[b], min(ranges[a], ranges[b]))
        ]


def rows(contacts: Contacts) -> list[Interval]:
    return sorted(
        zip(
            contacts.a.tolist(),
            contacts.b.tolist(),
            contacts.begin_ms.tolist(),
            contacts.end_ms.tolist(),
            strict=True,
        )
    )


def covered(intervals: list[Interval], pair: tuple[int, int], moment: float, slack: float) -> bool:
    return any((a, b) == pair and begin - slack <= moment <= end + slack for a, b, begin, end in intervals)


def assert_same(fast: list[Interval], oracle: list[Interval], slack: float) -> None:
    """Every interior point of one is in the other; only a graze shorter than the slack may differ."""
    for intervals, others in ((fast, oracle), (oracle, fast)):
        for a, b, begin, end in intervals:
            if end - begin <= 2 * slack:
                continue
            for moment in (begin + slack, (begin + end) / 2, end - slack):
                assert covered(others, (a, b), moment, slack), (a, b, begin, end, others)


coordinates = st.integers(0, 40).map(lambda number: number * 5.0)
times = st.lists(st.integers(1, 200), min_size=1, max_size=5, unique=True)


@st.composite
def walks_of(draw: st.DrawFn) -> list[list[Point]]:
    """Few nodes on a coarse grid, which makes parallel, grazing and equal motion common."""
    found = []
    for _ in range(draw(st.integers(2, 4))):
        moments = sorted({0, 200_000, *(1000 * moment for moment in draw(times))})
        found.append([(float(t), draw(coordinates), draw(coordinates)) for t in moments])
    return found


@given(walks_of(), st.lists(st.sampled_from([5.0, 25.0, 50.0, 65.0]), min_size=4, max_size=4))
@settings(max_examples=120, deadline=None)
def test_agrees_with_the_slow_detector(walks: list[list[Point]], ranges: list[float]) -> None:
    found = rows(find_contacts([legs(points) for points in walks], ranges[: len(walks)], 200_000.0))
    # A pair that nearly stands still relative to each other crosses the border slowly: 10⁻⁹ m are then
    # many ms.
    assert_same(found, slow(walks, ranges), slack=0.05)


def test_agrees_with_the_slow_detector_on_random_waypoint() -> None:
    streams = Streams(3)
    model = RandomWaypoint((0.5, 15.0), (0.0, 60.0))
    walks = model.walks(
        Area(800.0, 600.0), 1_800_000.0, [streams.stream("m", i) for i in range(14)], streams.stream("m")
    )
    points = [
        [
            *zip(walk.begin_ms.tolist(), walk.x0_m.tolist(), walk.y0_m.tolist(), strict=True),
            (float(walk.end_ms[-1]), float(walk.x1_m[-1]), float(walk.y1_m[-1])),
        ]
        for walk in walks
    ]
    ranges = [40.0 + 5.0 * (node % 5) for node in range(14)]
    found, oracle = rows(find_contacts(walks, ranges, 1_800_000.0)), slow(points, ranges)
    assert len(found) > 100
    assert [row[:2] for row in found] == [row[:2] for row in oracle]
    assert [row[2] for row in found] == pytest.approx([row[2] for row in oracle], abs=1e-4)
    assert [row[3] for row in found] == pytest.approx([row[3] for row in oracle], abs=1e-4)


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
        pytest.param([still(0), passing(-100, 100, 10.0)], [], id="grazing is no contact"),
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
@settings(max_examples=50, deadline=None)
def test_the_order_of_nodes_does_not_matter(walks: list[list[Point]], chance: object) -> None:
    there = rows(find_contacts([legs(points) for points in walks], [25.0] * len(walks), 200_000.0))
    back = rows(find_contacts([legs(points) for points in walks[::-1]], [25.0] * len(walks), 200_000.0))
    last = len(walks) - 1
    turned = sorted((last - b, last - a, begin, end) for a, b, begin, end in back)
    assert_same(there, turned, slack=0.05)
