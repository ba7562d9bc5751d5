"""Asks how much arrived, for whom, and how long it took."""

from collections.abc import Iterable

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
from spark_analysis.asking.naming import bin_ms_of, name_of, seconds
from spark_analysis.metrics import delivery as arriving
from spark_analysis.metrics.delay import PERCENTILES, delay_by_hops, delay_summary
from spark_analysis.metrics.owed import SubscriptionRevision


def delivery_of(
    outcomes: DataFrame,
    served: DataFrame,
    revisions: tuple[SubscriptionRevision, ...],
    nodes: dict[int, Row],
) -> Delivery:
    """Ask what arrived; `served` holds the counts by group, language and subscriber."""
    wrong = outcomes.transform(arriving.delivered_wrongly).first()
    assert wrong is not None
    single = {
        (row["subscriber"], row["id"], row["seq"]): _served(row)
        for row in outcomes.transform(arriving.owed_outcomes)
        .transform(arriving.delivery_ratio, "subscriber", "id", "seq")
        .collect()
    }
    rows = [(row["group"] or "", row["language"], _served(row)) for row in served.collect()]
    return Delivery(
        total=_together(one for _, _, one in rows),
        repeated=wrong["repeated"],
        not_owed=wrong["not_owed"],
        by_group=tuple(
            GroupServed(group, _together(one for its, _, one in rows if its == group))
            for group in sorted({group for group, _, _ in rows})
        ),
        by_language=tuple(
            LanguageServed(language, _together(one for _, its, one in rows if its == language))
            for language in sorted({language for _, language, _ in rows})
        ),
        by_subscription=tuple(
            SubscriptionServed(
                subscriber=name_of(nodes, revision.subscriber),
                id=revision.id,
                seq=revision.seq,
                document=revision.document,
                served=single.get((revision.subscriber, revision.id, revision.seq), Served(0, 0, 0, 0)),
            )
            for revision in revisions
        ),
    )


def served_by(pairs: DataFrame, nodes: DataFrame) -> DataFrame:
    """Count what was owed and arrived by group, subscriber and language: a small frame to ask further."""
    by = ("group", "role", "subscriber", "language")
    return pairs.transform(arriving.with_group, nodes).transform(arriving.delivery_ratio, *by)


def fairness_of(served: DataFrame, between: str) -> Fairness:
    """Ask how equally those named by a column of `served_by` were served."""
    row = served.transform(arriving.summed, between).transform(arriving.fairness).first()
    assert row is not None
    return Fairness(**row.asDict())


def delay_of(pairs: DataFrame) -> Delay:
    """Ask how long the delivered pairs took."""
    row = pairs.transform(delay_summary).first()
    assert row is not None
    return Delay(
        delivered=row["delivered"],
        censored=row["censored"],
        mean_s=seconds(row["mean_ms"]),
        max_s=seconds(row["max_ms"]),
        quantiles_s=tuple(value / 1000 for value in row["quantiles_ms"] or ()),
        by_hops=tuple(
            HopsDelay(hops["hops"], hops["delivered"], hops["mean_ms"] / 1000)
            for hops in pairs.transform(delay_by_hops).collect()
        ),
        **{f"p{p}_s": seconds(row[f"p{p}_ms"]) for p in PERCENTILES},
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


def _served(row: Row) -> Served:
    return Served(row["owed"], row["delivered"], row["missed"], row["open"])


def _together(parts: Iterable[Served]) -> Served:
    owed = delivered = missed = still_open = 0
    for one in parts:
        owed, delivered = owed + one.owed, delivered + one.delivered
        missed, still_open = missed + one.missed, still_open + one.open
    return Served(owed, delivered, missed, still_open)
