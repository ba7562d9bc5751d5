"""Asks how much arrived, for whom, and how long it took."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from pyspark.sql import DataFrame, Row

from spark_analysis.answers import (
    Delay,
    Delivery,
    Fairness,
    GroupServed,
    HopsDelay,
    LanguageServed,
    Served,
    SubscriptionServed,
    Timeline,
)
from spark_analysis.devices import Devices
from spark_analysis.metrics import delivery as arriving
from spark_analysis.metrics.delay import DELIVERED, OWED, delay_by_hops, watched_delays
from spark_analysis.metrics.estimates import NOTHING, collected, estimates, life_table
from spark_analysis.metrics.owed import SubscriptionRevision
from spark_analysis.number_format import seconds
from spark_analysis.pair_figures import PairFigures
from spark_analysis.queries.naming import bin_ms_of, name_of


def tallied(outcomes: DataFrame) -> list[Row]:
    """Ask for the counts that all figures below are sums of: a few rows for each subscription revision."""
    return outcomes.transform(arriving.tally).collect()


def delivery_of(
    rows: Iterable[Row], revisions: tuple[SubscriptionRevision, ...], nodes: Mapping[int, Mapping[str, Any]]
) -> Delivery:
    """Say what arrived, from what was `tallied`."""
    owed = [row for row in rows if not row["unowed"]]
    pairs = [row for row in owed if row["first"]]
    seen = [row for row in rows if row["first"]]
    groups = _together(pairs, lambda row: _group(nodes, row["subscriber"]))
    languages = _together(pairs, lambda row: row["language"])
    single = _together(owed, lambda row: (row["subscriber"], row["id"], row["seq"]))
    return Delivery(
        total=_sum(pairs),
        repeated=sum(row["owed"] for row in seen if row["repeated"]),
        not_owed=sum(row["owed"] for row in seen if row["unowed"]),
        by_group=tuple(GroupServed(group, served) for group, served in sorted(groups.items())),
        by_language=tuple(LanguageServed(which, served) for which, served in sorted(languages.items())),
        by_subscription=tuple(
            SubscriptionServed(
                subscriber=name_of(nodes, revision.subscriber),
                id=revision.id,
                seq=revision.seq,
                language=revision.language,
                document=revision.document,
                served=single.get((revision.subscriber, revision.id, revision.seq), Served(0, 0, 0, 0, 0)),
            )
            for revision in revisions
        ),
    )


def fairness_of(rows: Iterable[Row], nodes: Mapping[int, Mapping[str, Any]] | None = None) -> Fairness:
    """Say how equally subscribers were served, from what was `tallied`; with `nodes`, their groups."""
    pairs = [row for row in rows if row["first"] and not row["unowed"]]
    if nodes is None:
        served = _together(pairs, lambda row: row["subscriber"])
    else:
        served = _together(pairs, lambda row: _group(nodes, row["subscriber"]))
    return Fairness.of(one.ratio for one in served.values())


def pair_figures_of(pairs: DataFrame, served: Served, end_ms: int) -> PairFigures:
    """Ask how long pairs took, of which it is known how they were `served`."""
    curves = collected(pairs.transform(watched_delays, end_ms).transform(life_table).transform(estimates))
    return PairFigures(served, curves.get(OWED, NOTHING), curves.get(DELIVERED, NOTHING))


def delay_of(figures: PairFigures, pairs: DataFrame, devices: Devices) -> Delay:
    """Say how long pairs took, and ask how that went with their hops."""
    everything, arrived = figures.delay, figures.delivered_delay
    return Delay(
        delivered=everything.known,
        missed=figures.served.missed,
        open=figures.served.open,
        lost=figures.served.lost,
        withdrawn=figures.served.withdrawn,
        estimate=figures.estimate,
        median_s=seconds(everything.median),
        watched_s=seconds(everything.longest),
        within_s=tuple(seconds(value) for value in everything.percentiles),
        mean_s=seconds(arrived.mean),
        p50_s=seconds(arrived.percentiles[50]),
        p90_s=seconds(arrived.percentiles[90]),
        p95_s=seconds(arrived.percentiles[95]),
        p99_s=seconds(arrived.percentiles[99]),
        max_s=seconds(arrived.longest_known),
        quantiles_s=tuple(value / 1000 for value in arrived.percentiles if value is not None),
        by_hops=tuple(
            HopsDelay(hops["hops"], hops["delivered"], hops["mean_ms"] / 1000)
            for hops in pairs.transform(delay_by_hops, devices).collect()
        ),
    )


def timeline_of(pairs: DataFrame, end_ms: int) -> Timeline:
    """Ask when pairs became owed and when they were delivered."""
    bin_ms = bin_ms_of(end_ms)
    rows = pairs.transform(arriving.over_time, bin_ms).collect()
    bins = max(-(-end_ms // bin_ms), 1 + max((row["bin"] for row in rows), default=0))
    became_owed, arrived = [0] * bins, [0] * bins
    for row in rows:
        became_owed[row["bin"]], arrived[row["bin"]] = row["owed"], row["delivered"]
    return Timeline(bin_ms / 1000, tuple(became_owed), tuple(arrived))


def _group(nodes: Mapping[int, Mapping[str, Any]], node: int) -> str:
    return str(nodes[node]["group"]) if node in nodes else ""


def _together(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, Served]:
    """Add up rows of the same key."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return {name: _sum(its) for name, its in found.items()}


_COUNTS: Final = ("owed", "delivered", "missed", "open", "whole_delivered", "lost", "withdrawn")


def _sum(rows: Iterable[Row]) -> Served:
    counts = dict.fromkeys(_COUNTS, 0)
    for row in rows:
        for name in _COUNTS:
            counts[name] += row[name]
    return Served(**counts)
