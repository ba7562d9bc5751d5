"""Delivery and delay have one definition: Spark, sweeps and live figures are held to it on random traces."""

import random
from dataclasses import asdict, replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from dens.trace.recorded_run import recorded_run
from knowledge_manager.mission_table import load_mission_table
from spark_analysis.answers import Analysis, analyse
from spark_analysis.catalogue.recorded import pairs_of
from spark_analysis.devices import devices_of
from spark_analysis.live.state import Batch, Delivered, LiveState, NotificationFact
from spark_analysis.metrics.estimates import DELIVERED, collected, estimates, life_table, watched_delays
from spark_analysis.metrics.expected import SubscriptionRevision
from spark_analysis.metrics.run_languages import RunLanguages
from spark_analysis.pair_figures import DeliveryCounts, Pair, pair_figures
from spark_analysis.remaining_copies import RemainingCopies, remaining_copies
from spark_analysis.run import open_run
from spark_analysis.sweep.key_figures import key_figures
from tests.spark_analysis import oracle
from tests.spark_analysis.conftest import WriteRun
from tests.spark_analysis.synthetic import END_MS, Row, synthetic_run

run_languages = RunLanguages(load_mission_table(["medical"]))

moments = st.integers(0, 60)


@given(
    st.lists(
        st.tuples(
            moments,
            st.integers(1, 60),
            st.none() | st.integers(0, 60),
            st.none() | st.integers(0, 60),
            st.booleans(),
        ),
        max_size=30,
    )
)
def test_four_figures_that_belong_together(
    drawn: list[tuple[int, int, int | None, int | None, bool]],
) -> None:
    end = 60
    pairs = [
        Pair(
            event,
            lifetime,
            None if after is None or event + after > end else event + after,
            None if withdrawn is None else event + withdrawn,
            is_lost,
        )
        for event, lifetime, after, withdrawn, is_lost in drawn
    ]
    found = pair_figures(pairs, end)
    served = found.counts
    became = [_became(pair, end) for pair in pairs]
    for outcome in ("delivered", "missed", "open", "lost", "withdrawn"):
        assert getattr(served, outcome) == became.count(outcome)
    assert served.expected == len(pairs)
    whole = [_is_whole(pair, end) for pair in pairs]
    assert served.whole == sum(whole)
    assert served.whole_delivered == sum(
        one and pair.delivered_ms is not None for one, pair in zip(whole, pairs, strict=True)
    )
    if not any(whole):
        assert found.estimate is None
        assert served.whole_ratio is None
        return
    assert served.ratio is not None
    assert found.estimate is not None
    assert found.estimate >= served.ratio - 1e-12, "an open pair is not a missed one"
    times = [_watched(pair, outcome, end) for pair, outcome in zip(pairs, became, strict=True)]
    assert found.estimate == pytest.approx(1 - oracle.survival_at(times, 10**8), abs=1e-9)


def _became(pair: Pair, end: int) -> str:
    over = pair.event_ms + pair.lifetime_ms
    if pair.delivered_ms is not None:
        return "delivered"
    if pair.withdrawn_ms is not None and pair.withdrawn_ms <= min(over - 1, end):
        return "withdrawn"
    if over <= end:
        return "missed"
    return "lost" if pair.is_lost else "open"


def _is_whole(pair: Pair, end: int) -> bool:
    over = pair.event_ms + pair.lifetime_ms
    return over <= end and not (pair.withdrawn_ms is not None and pair.withdrawn_ms < over)


def _watched(pair: Pair, outcome: str, end: int) -> tuple[float, bool]:
    """Return how long a pair was watched, and whether that is all that is known of its delay."""
    if pair.delivered_ms is not None:
        return pair.delivered_ms - pair.event_ms, False
    if outcome in ("missed", "lost"):
        return 10**9, True
    until = pair.withdrawn_ms if outcome == "withdrawn" and pair.withdrawn_ms is not None else end
    return until - pair.event_ms, True


def test_bias_of_a_ratio_is_reported() -> None:
    """Half of all arrive after 30 of their 40 seconds, one starts every second, the run ends after 60."""
    pairs = [Pair(at, 40, at + 30 if at % 2 and at <= 30 else None) for at in range(60)]
    found = pair_figures(pairs, 60)
    assert found.counts.ratio == pytest.approx(15 / 60)
    assert found.counts.open == 60 - 15 - 11
    assert found.counts.whole_ratio == pytest.approx(10 / 21)
    assert found.estimate == pytest.approx(15 / 31)


def varied(seed: int) -> dict[str, list[Row]]:
    """Return a made-up run whose notifications live for different times and arrive at random."""
    chance = random.Random(seed)
    tables = dict(synthetic_run(seed).tables)
    tables["notifications"] = [
        {**row, "lifetime_ms": chance.choice([120_000, 900_000, 3_756_000])}
        for row in tables["notifications"]
    ]
    tables["messages"] = [
        {**row, "at_ms": min(row["at_ms"] + chance.randrange(600_000), END_MS)}
        if row["kind"] == "delivered"
        else row
        for row in tables["messages"]
    ]
    return tables


def live_of(tables: dict[str, list[Row]], copies: RemainingCopies) -> Any:
    state = LiveState(run_languages)
    told = [
        {name: row[name] for name in NotificationFact.__dataclass_fields__} for row in tables["notifications"]
    ]
    state.take(
        Batch(
            0,
            tuple(SubscriptionRevision(**row) for row in tables["subscriptions"]),
            tuple(NotificationFact(**row) for row in told),
            tuple(
                Delivered(row["origin"], row["number"], row["node"], row["at_ms"])
                for row in tables["messages"]
                if row["kind"] == "delivered"
            ),
            reached_ms=END_MS,
        )
    )
    return state.figures(END_MS, 900_000, all_taken=True, copies=copies).whole


def in_report(analysis: Analysis) -> dict[str, float | None]:
    total = analysis.delivery.total
    return {
        "delivery_ratio": total.ratio,
        "open_ratio": total.open / total.expected,
        "whole_lifetime_ratio": total.whole_ratio,
        "delivery_estimate": analysis.delay.estimate,
        "mean_delay_s": analysis.delay.mean_s,
        "median_delay_s": analysis.delay.p50_s,
        "p95_delay_s": analysis.delay.p95_s,
    }


@pytest.mark.parametrize("seed", range(3))
def test_report_sweep_and_live_give_the_same_figures(
    spark: SparkSession, write_run: WriteRun, seed: int
) -> None:
    tables = varied(seed)
    folder = write_run(tables, {"simulated_ms": END_MS})
    analysis = analyse(open_run(folder, spark))
    swept = key_figures(folder)
    assert in_report(analysis) == {name: swept[name] for name in in_report(analysis)}
    run = recorded_run(folder)
    live = live_of(tables, remaining_copies(run, devices_of(tables["nodes"])))
    counts = {name: getattr(live, name) for name in asdict(analysis.delivery.total)}
    assert counts == asdict(analysis.delivery.total)
    assert min(live.open, live.missed, live.lost, live.withdrawn) > 0
    assert live.estimate == analysis.delay.estimate
    assert live.metrics == {name: analysis.metrics[name].value for name in live.metrics}
    assert in_report(analysis).keys() <= live.metrics.keys()
    whole = pairs_of(run)
    assert whole.delay.median == (None if analysis.delay.median_s is None else whole.delay.median)
    assert (
        tuple(None if ms is None else ms / 1000 for ms in whole.delay.percentiles) == analysis.delay.within_s
    )


def test_a_median_is_exact_however_many_there_are(spark: SparkSession) -> None:
    """An approximate percentile is exact up to some ten thousand values only."""
    number = 60_000
    chance = random.Random(7)
    delays = [round(chance.expovariate(1 / 885_000)) for _ in range(number)]
    pairs = spark.createDataFrame(pa.table({"delay_ms": delays})).withColumns(
        {
            "outcome": F.lit("delivered"),
            "event_ms": F.lit(0),
            "lifetime_ms": F.lit(10**9),
            "withdrawn_ms": F.lit(None).cast("long"),
        }
    )
    found = collected(pairs.transform(watched_delays, 10**9).transform(life_table).transform(estimates))
    delays.sort()
    assert found[DELIVERED].percentiles == tuple(oracle.nearest_rank(delays, p) for p in range(101))
    assert found[DELIVERED].mean == sum(delays) / number


def test_served_counts_cannot_disagree_with_their_ratios() -> None:
    some = DeliveryCounts(10, 6, 1, 3, 4)
    assert (some.ratio, some.whole, some.whole_ratio) == (0.6, 5, 0.8)
    assert replace(some, whole_delivered=0, missed=0).whole_ratio is None
