"""Contact and inter-contact times, with what the run's ends cut off."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from spark_analysis.metrics.contacts import (
    BINS_PER_DECADE,
    contact_times,
    inter_contact_times,
    life_table,
    pairs_met,
    time_summary,
    until,
)
from spark_analysis.survival import survival

MakeTable = Callable[..., DataFrame]

END_MS = 10_000


def contact(a: int, b: int, begin_ms: float, end_ms: float) -> dict[str, Any]:
    return {"a": a, "b": b, "begin_ms": begin_ms, "end_ms": end_ms, "censored": end_ms >= END_MS}


def test_contacts_at_the_edges_of_the_run_are_censored(make_table: MakeTable) -> None:
    contacts = make_table(
        "contacts",
        contact(0, 1, 0.0, 500.0),
        contact(0, 1, 2_000.0, 2_750.5),
        contact(0, 2, 9_000.0, 10_000.0),
    )
    assert [tuple(row) for row in contact_times(contacts).orderBy("b", "time_ms").collect()] == [
        (0, 1, 500.0, True),
        (0, 1, 750.5, False),
        (0, 2, 1_000.0, True),
    ]
    assert pairs_met(contacts).first()["pairs_met"] == 2


def test_contacts_after_the_end_of_a_partial_run_did_not_happen(make_table: MakeTable) -> None:
    contacts = make_table(
        "contacts", contact(0, 1, 0.0, 500.0), contact(0, 1, 800.0, 2_000.0), contact(0, 1, 1_000.0, 3_000.0)
    )
    assert [tuple(row) for row in contacts.transform(until, 1_000).orderBy("begin_ms").collect()] == [
        (0, 1, 0.0, 500.0, False),
        (0, 1, 800.0, 1_000.0, True),
    ]


def test_gaps_follow_the_pair_and_the_last_one_is_censored(make_table: MakeTable) -> None:
    contacts = make_table(
        "contacts",
        contact(0, 1, 2_000.0, 3_000.0),
        contact(0, 2, 100.0, 200.0),
        contact(0, 1, 500.0, 1_000.0),
        contact(0, 2, 6_200.0, 10_000.0),
    )
    gaps = inter_contact_times(contacts, END_MS).orderBy("b", "time_ms").collect()
    assert [tuple(row) for row in gaps] == [
        (0, 1, 1_000.0, False),
        (0, 1, 7_000.0, True),
        (0, 2, 6_000.0, False),
    ]


def test_plain_figures_leave_censored_times_out(spark: SparkSession) -> None:
    times = spark.createDataFrame(
        [(100.0, False), (200.0, False), (900.0, False), (5_000.0, True)], "time_ms double, censored boolean"
    )
    assert time_summary(times).first().asDict() == {
        "known": 3,
        "censored": 1,
        "mean_ms": 400.0,
        "median_ms": 200.0,
    }


def test_a_life_table_has_bins_of_equal_ratio(spark: SparkSession) -> None:
    times = spark.createDataFrame(
        [(0.2, False), (1.0, False), (10.0, False), (10.1, True), (100.0, False), (100.0, True)],
        "time_ms double, censored boolean",
    )
    found = [tuple(row) for row in life_table(times).orderBy("bin").collect()]
    assert found == [
        (0, 2, 0),
        (BINS_PER_DECADE, 1, 0),
        (BINS_PER_DECADE + 1, 0, 1),
        (2 * BINS_PER_DECADE, 1, 1),
    ]


def redistribute_to_the_right(bins: list[tuple[int, int, int]]) -> list[Fraction]:
    """Give the survival after each bin by Efron's construction, which shares nothing with the product.

    Every time has the mass 1/n; the mass of a censored one is handed evenly to all times in later bins.
    """
    masses = [
        (position, kind, Fraction(1))
        for position, (_, ended, censored) in enumerate(bins)
        for kind in ["ended"] * ended + ["censored"] * censored
    ]
    total = Fraction(len(masses))
    for position in range(len(bins)):
        freed = sum((mass for p, kind, mass in masses if p == position and kind == "censored"), Fraction(0))
        later = sum(p > position for p, _, _ in masses)
        if later:
            masses = [(p, kind, mass + freed / later if p > position else mass) for p, kind, mass in masses]
    return [
        1 - sum((m for p, kind, m in masses if p <= position and kind == "ended"), Fraction(0)) / total
        for position in range(len(bins))
    ]


@given(
    st.lists(
        st.tuples(st.integers(0, 160), st.integers(0, 3), st.integers(0, 3)).filter(
            lambda b: b[1] + b[2] > 0
        ),
        min_size=1,
        max_size=12,
        unique_by=lambda bin_: bin_[0],
    )
)
def test_the_survival_curve_is_kaplan_and_meiers(bins: list[tuple[int, int, int]]) -> None:
    curve = survival(bins)
    ordered = sorted(bins)
    assert [share for _, share in curve] == pytest.approx(
        [float(share) for share in redistribute_to_the_right(ordered)], abs=1e-12
    )
    assert [s for s, _ in curve] == pytest.approx([10 ** (b / BINS_PER_DECADE) / 1000 for b, _, _ in ordered])


def test_a_survival_curve_of_nothing_is_empty() -> None:
    assert survival([]) == ()
    assert survival([(3, 0, 5)]) == ((10 ** (3 / BINS_PER_DECADE) / 1000, 1.0),)
