"""How much of what was owed arrived.

Two grains, because they answer two questions. A *pair* is (notification, subscriber): the application sees
a notification once, however many of its subscriptions asked for it. A row of `outcomes` is (notification,
subscription revision): how well one subscription was served.

A pair that has not been delivered is `withdrawn`, `missed`, `lost` or `open`. The definitions, and why there
are several figures, stand in `pair_figures.py`.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name every PySpark reader expects

from dens.trace.manifest import Manifest
from spark_analysis.metrics.ordering import in_order
from spark_analysis.metrics.owed_schema import OWED

PAIR = ("origin", "number", "subscriber")


def deliveries(messages: DataFrame) -> DataFrame:
    """Give one row a pair that reached an application: when first, over how many hops, and how often."""
    return (
        messages.where(F.col("kind") == "delivered")
        .groupBy("origin", "number", F.col("node").alias("subscriber"))
        .agg(
            F.min("at_ms").alias("delivered_ms"),
            F.min_by("hops", "at_ms").alias("hops"),
            F.count("*").alias("times"),
        )
    )


def outcomes(
    owed: DataFrame, delivered: DataFrame, end_ms: int, copies: DataFrame | None = None
) -> DataFrame:
    """Say of every owed row what became of it by the end of the run: `delivered`, `withdrawn`, `missed`,
    `lost` or `open`, and whether it had its `whole` lifetime. `copies` is what `holding.copies_at_end`
    gives; without it nothing is known to be lost.

    A delivery that was owed to nobody is a row of its own, `unowed`, without an event.
    """
    over_ms = F.col("event_ms") + F.col("lifetime_ms")
    withdrawn_ms = F.col("withdrawn_ms")
    is_withdrawn = F.coalesce((withdrawn_ms < over_ms) & (withdrawn_ms <= end_ms), F.lit(False))
    if copies is None:
        owed = owed.withColumn("left", F.lit(True))
    else:
        owed = owed.join(copies.select("origin", "number", "left"), ["origin", "number"], "left")
    return owed.join(delivered, [*PAIR], "full").select(
        *OWED.names,
        "delivered_ms",
        "hops",
        "times",
        (F.col("delivered_ms") - F.col("event_ms")).alias("delay_ms"),
        F.when(F.col("event_ms").isNull(), "unowed")
        .when(F.col("delivered_ms").isNotNull(), "delivered")
        .when(is_withdrawn, "withdrawn")
        .when(over_ms <= F.lit(end_ms), "missed")
        .when(~F.coalesce("left", F.lit(True)), "lost")
        .otherwise("open")
        .alias("outcome"),
        ((over_ms <= F.lit(end_ms)) & ~is_withdrawn).alias("whole"),
    )


def pairs(outcomes: DataFrame) -> DataFrame:
    """Reduce owed outcomes to one row a pair, whose event, delay and outcome all its rows share."""
    return outcomes.where("first")


def delivery_ratio(frame: DataFrame, *by: str) -> DataFrame:
    """Count owed and every outcome, those of the delivered that had their whole lifetime, and both ratios,
    delivered / owed and that among those with their whole lifetime, for each value of `by`.

    On pairs and without `by` it is the delivery ratio of the run; on outcomes by subscriber, id and seq
    that of every subscription; on pairs joined with `nodes` that of every group. Nothing owed gives a ratio
    of null, not 0.
    """
    return (
        frame.groupBy(*by)
        .agg(
            F.count("*").alias("owed"),
            _count_of("delivered").alias("delivered"),
            _count_of("missed").alias("missed"),
            _count_of("open").alias("open"),
            _count_of("lost").alias("lost"),
            _count_of("withdrawn").alias("withdrawn"),
            F.count(F.when((F.col("outcome") == "delivered") & F.col("whole"), True)).alias(
                "whole_delivered"
            ),
        )
        .withColumns(
            {
                "ratio": F.try_divide("delivered", "owed"),
                "whole_ratio": F.try_divide(
                    F.col("whole_delivered"), F.col("whole_delivered") + F.col("missed")
                ),
            }
        )
    )


def with_group(frame: DataFrame, nodes: DataFrame) -> DataFrame:
    """Add the subscriber's group and role to every row."""
    who = nodes.select(F.col("node").alias("subscriber"), "group", "role")
    return frame.join(F.broadcast(who), "subscriber", "left")


def with_run(frame: DataFrame, manifest: Manifest) -> DataFrame:
    """Add which run the rows are of: its scenario, replication policy and seed, so that the rows of many runs
    can stand in one frame and be grouped by them.
    """
    return frame.select(
        F.lit(manifest.name).alias("scenario"),
        F.lit(manifest.policy).cast("string").alias("policy"),
        F.lit(manifest.seed).cast("long").alias("seed"),
        *frame.columns,
    )


def tally(outcomes: DataFrame) -> DataFrame:
    """Count the outcomes as finely as any figure needs them, so that the table is gone through once.

    By subscription revision and language; by whether a row is the `first` of its pair, which counts pairs
    instead of rows; and by what must not happen: `repeated`, the application saw it more than once, and
    `unowed`, it was owed to nobody (then there is no revision, and its count stands under `owed`).
    """
    marked = outcomes.withColumns(
        {
            "repeated": F.coalesce(F.col("times") > 1, F.lit(False)),
            "unowed": F.col("outcome") == "unowed",
            "first": F.coalesce("first", F.lit(True)),
        }
    )
    by = ("subscriber", "id", "seq", "language", "first", "repeated", "unowed")
    return marked.transform(delivery_ratio, *by)


def over_time(pairs: DataFrame, bin_ms: int) -> DataFrame:
    """Count, for each bin of simulated time, the pairs that became owed in it and those that were delivered
    in it.
    """
    became_owed = pairs.select(_bin("event_ms", bin_ms), F.lit(1).alias("owed"), F.lit(0).alias("delivered"))
    arrived = pairs.where(F.col("delivered_ms").isNotNull()).select(
        _bin("delivered_ms", bin_ms), F.lit(0).alias("owed"), F.lit(1).alias("delivered")
    )
    return (
        became_owed.unionAll(arrived)
        .groupBy("bin")
        .agg(F.sum("owed").alias("owed"), F.sum("delivered").alias("delivered"))
        .transform(in_order, "bin")
    )


def _count_of(outcome: str) -> Column:
    return F.count(F.when(F.col("outcome") == outcome, True))


def _bin(column: str, bin_ms: int) -> Column:
    return F.floor(F.col(column) / F.lit(bin_ms)).alias("bin")
