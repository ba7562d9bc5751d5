"""A detector that shares nothing with the fast one (fifty digits, all pairs, textbook), and walks to try."""

from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from emulation.contacts.contact import Contacts
from emulation.mobility.model import Legs

Point = tuple[float, float, float]
"""(time, x, y)"""
Interval = tuple[int, int, float, float]


def legs(points: list[Point]) -> Legs:
    rows = [(t0, t1, x0, y0, x1, y1) for (t0, x0, y0), (t1, x1, y1) in pairwise(points)]
    return Legs(*(np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)))


def points_of(walk: Legs) -> list[Point]:
    """Return the points that a walk passes through, its end included."""
    return [
        *zip(walk.begin_ms.tolist(), walk.x0_m.tolist(), walk.y0_m.tolist(), strict=True),
        (float(walk.end_ms[-1]), float(walk.x1_m[-1]), float(walk.y1_m[-1])),
    ]


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
