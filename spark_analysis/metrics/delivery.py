"""How much of what was owed arrived.

Two grains, because they answer two questions. A *pair* is (notification, subscriber): the application sees
a notification once, however many of its subscriptions asked for it. A row of `outcomes` is (notification,
subscription revision): how well one subscription was served.

A pair that has not been delivered is `missed` when the notification's lifetime was over before the run
ended, and `open` otherwise: it might still have arrived. The delivery ratio counts both as not delivered
and both are shown.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name every PySpark reader expects

from spark_analysis.manifest import Manifest
from spark_analysis.metrics.owed import OWED

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


def outcomes(owed: DataFrame, delivered: DataFrame, end_ms: int) -> DataFrame:
    """Say of every owed row what became of it by the end of the run: `delivered`, `missed` or `open`.

    A delivery that was owed to nobody is a row of its own, `unowed`, without an event.
    """
    over_ms = F.col("event_ms") + F.col("lifetime_ms")
    return owed.join(delivered, [*PAIR], "full").select(
        *OWED.names,
        "delivered_ms",
        "hops",
        "times",
        (F.col("delivered_ms") - F.col("event_ms")).alias("delay_ms"),
        F.when(F.col("event_ms").isNull(), "unowed")
        .when(F.col("delivered_ms").isNotNull(), "delivered")
        .when(over_ms <= F.lit(end_ms), "missed")
        .otherwise("open")
        .alias("outcome"),
    )


def owed_outcomes(outcomes: DataFrame) -> DataFrame:
    """Leave out what was owed to nobody."""
    return outcomes.where(F.col("outcome") != "unowed")


def pairs(outcomes: DataFrame) -> DataFrame:
    """Reduce owed outcomes to one row a pair, whose event, delay and outcome all its rows share."""
    return owed_outcomes(outcomes).dropDuplicates([*PAIR])


def delivery_ratio(frame: DataFrame, *by: str) -> DataFrame:
    """Count owed, delivered, missed and open, and the ratio delivered / owed, for each value of `by`.

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
        )
        .withColumn("ratio", F.try_divide("delivered", "owed"))
    )


def summed(served: DataFrame, *by: str) -> DataFrame:
    """Add up the counts of `delivery_ratio` to a coarser grouping."""
    counts = ("owed", "delivered", "missed", "open")
    sums = served.groupBy(*by).agg(*(F.sum(name).alias(name) for name in counts))
    return sums.withColumn("ratio", F.try_divide("delivered", "owed"))


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


def fairness(served: DataFrame) -> DataFrame:
    """Give one row: Jain's index over the ratios of `delivery_ratio`, and the least and the largest of them.

    The index (Jain, Chiu and Hawe 1984) is (Σx)² / (n·Σx²): 1 when all are served equally well, 1/n when one
    gets everything. Those who are owed nothing take no part; where nothing at all was delivered it is null.
    """
    return served.agg(
        F.try_divide(
            F.pow(F.sum("ratio"), F.lit(2.0)), F.count("ratio") * F.sum(F.col("ratio") * F.col("ratio"))
        ).alias("jain"),
        F.min("ratio").alias("least"),
        F.max("ratio").alias("largest"),
    )


def delivered_wrongly(outcomes: DataFrame) -> DataFrame:
    """Count what must not happen: pairs that an application saw more than once, and pairs owed to nobody."""
    seen = outcomes.where(F.col("times").isNotNull()).dropDuplicates([*PAIR])
    return seen.agg(
        F.count("*").alias("delivered"),
        F.count(F.when(F.col("times") > 1, True)).alias("repeated"),
        F.count(F.when(F.col("outcome") == "unowed", True)).alias("not_owed"),
    )


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
        .orderBy("bin")
    )


def _count_of(outcome: str) -> Column:
    return F.count(F.when(F.col("outcome") == outcome, True))


def _bin(column: str, bin_ms: int) -> Column:
    return F.floor(F.col(column) / F.lit(bin_ms)).alias("bin")
