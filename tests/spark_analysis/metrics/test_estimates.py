"""Kaplan and Meier's estimate, and with it every median and percentile, against exact rationals."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_analysis.survival import BINS_PER_DECADE, KaplanMeier, estimate

Rows = list[tuple[float, int, int, int]]

times = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)).filter(
        lambda row: sum(row[1:]) > 0
    ),
    min_size=1,
    max_size=12,
)


def redistribute_to_the_right(rows: Rows) -> list[tuple[float, Fraction]]:
    """Return the share longer than each time by Efron's construction, which shares nothing with the product.

    Every time has the mass 1/n; the mass of a censored one is handed evenly to all later ones, and to those
    that never end.
    """
    masses = [
        [math.inf if kind == "never" else time, kind, Fraction(1)]
        for time, ended, censored, never in rows
        for kind in ["ended"] * ended + ["censored"] * censored + ["never"] * never
    ]
    total = Fraction(len(masses))
    moments = sorted({time for time, *_ in rows})
    for moment in moments:
        freed = sum((m for t, kind, m in masses if t == moment and kind == "censored"), Fraction(0))
        later = [one for one in masses if one[0] > moment]
        for one in later:
            one[2] += freed / len(later)
    return [
        (at, 1 - sum((m for t, kind, m in masses if t <= at and kind == "ended"), Fraction(0)) / total)
        for at in moments
    ]


@given(times)
def test_the_estimate_is_kaplan_and_meiers(rows: Rows) -> None:
    found = estimate(rows)
    curve = redistribute_to_the_right(rows)
    assert found.left == pytest.approx(float(curve[-1][1]), abs=1e-12)
    assert found.longest == curve[-1][0]
    ended = [(time, share) for time, share in curve if any(r[0] == time and r[1] for r in rows)]
    for percent, value in enumerate(found.percentiles):
        at_most = Fraction(100 - percent, 100)
        # Within rounding of the boundary either neighbour is right; everywhere else there is one answer.
        surely = next((time for time, share in ended if share <= at_most - Fraction(1, 10**12)), None)
        maybe = next((time for time, share in ended if share <= at_most + Fraction(1, 10**12)), None)
        assert value in (surely, maybe), percent
    at_edges = dict(found.survival)
    for time, share in at_edges.items():
        before = [s for t, s in curve if t <= time * (1 + 1e-9)]
        assert share == pytest.approx(float(before[-1]), abs=1e-12)
    counts = (found.known, found.censored, found.never)
    assert counts == tuple(sum(row[kind] for row in rows) for kind in (1, 2, 3))


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=300))
def test_percentiles_of_known_times_are_nearest_ranks_exactly(values: list[int]) -> None:
    found = estimate((value, 1, 0, 0) for value in values)
    ordered = sorted(values)
    assert found.percentiles == tuple(
        ordered[max(-(-len(ordered) * percent // 100), 1) - 1] for percent in range(101)
    )
    assert found.mean == sum(values) / len(values)
    assert found.left == 0


def test_a_median_that_is_not_reached_is_not_made_up() -> None:
    found = estimate([(10, 1, 0, 0), (50, 0, 3, 0)])
    assert (found.median, found.longest, found.known, found.censored) == (None, 50, 1, 3)
    never = estimate([(10, 4, 0, 0), (60, 0, 0, 6)])
    assert (never.median, never.left, never.percentiles[40]) == (None, 0.6, 10)


def test_of_nothing_nothing_is_known() -> None:
    found = estimate([])
    assert (found.median, found.mean, found.left, found.longest, found.survival) == (None,) * 4 + ((),)


def test_a_curve_has_few_points_however_many_times_there_are() -> None:
    found = estimate((time, 1, 0, 0) for time in range(1, 100_001))
    assert len(found.survival) <= 5 * BINS_PER_DECADE + 1
    assert found.survival[0] == (1.0, 0.99999)


def test_times_are_taken_in_order_and_all_of_them() -> None:
    curve = KaplanMeier(3)
    curve.take(5, 1, 0)
    with pytest.raises(ValueError, match="not longer than"):
        curve.take(5, 1, 0)
    with pytest.raises(ValueError, match="got 1 times instead of 3"):
        curve.estimate()
