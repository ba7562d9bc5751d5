"""Outcomes of expected deliveries.

There are two levels. A *pair* is (notification, subscriber): the application receives a notification once,
however many of its subscriptions match. A row of `outcomes` is (notification, subscription revision), for
figures per subscription.

A pair that is not delivered is `withdrawn`, `missed`, `lost` or `open` (defined in `pair_figures.py`).
"""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from dens.trace.manifest import Manifest
from spark_analysis.devices import Devices, with_device
from spark_analysis.metrics.expected_schema import EXPECTED
from spark_analysis.metrics.ordering import in_order
from spark_analysis.metrics.radio_use import NOTIFICATION_TYPES
from spark_analysis.remaining_copies import ENDS, GAINS

PAIR = ("origin", "number", "subscriber")

STILL_HELD_MS: Final = (1 << 63) - 1
"""`carried_until_ms` of a copy that remains at the end of the run."""


def deliveries(messages: DataFrame) -> DataFrame:
    """Return one row per delivered pair: the first time, the hops, and the number of deliveries."""
    return (
        messages.where(F.col("kind") == "delivered")
        .groupBy("origin", "number", F.col("node").alias("subscriber"))
        .agg(
            F.min("at_ms").alias("delivered_ms"),
            F.min_by("hops", "at_ms").alias("hops"),
            F.count("*").alias("times"),
        )
    )


def copies_at_end(messages: DataFrame, node_state: DataFrame, devices: Devices) -> DataFrame:
    """Return, for every notification that any engine held, whether a copy remains (`left`), whether a carrier
    has one (`carried_left`), whether a carrier recorded that its copy expired (`ran_out`), and until when a
    carrier had one (`carried_until_ms`, null if none had). Defined in `spark_analysis.remaining_copies`.
    """
    inside = F.col("device") != F.col("node")
    is_loss = F.col("kind").isin(*ENDS) | (inside & (F.col("kind") == "acknowledged"))
    emptied = (
        node_state.where(F.col("reason") == "restart_empty")
        .groupBy("node")
        .agg(F.max("at_ms").alias("emptied_ms"), F.collect_set("at_ms").alias("all_emptied_ms"))
    )
    steps = (
        messages.where(
            F.col("type").isin(*NOTIFICATION_TYPES) & F.col("kind").isin(*GAINS, *ENDS, "acknowledged")
        )
        .withColumn("row", F.monotonically_increasing_id())
        .transform(with_device, devices, "node", "device")
        .withColumn("is_gain", F.col("kind").isin(*GAINS))
        .where(F.col("is_gain") | is_loss)
    )
    by_engine = steps.groupBy("origin", "number", "node").agg(
        F.max_by("is_gain", F.struct("at_ms", "row")).alias("is_held"),
        F.max(F.when(F.col("is_gain"), F.col("at_ms"))).alias("gained_ms"),
        F.max(F.when(~F.col("is_gain"), F.col("at_ms"))).alias("lost_ms"),
        F.max((F.col("node") != F.col("origin")) | (F.col("kind") == "made")).alias("is_carrier"),
        F.max(F.col("kind") == "expired").alias("ran_out"),
    )
    is_left = F.col("is_held") & F.coalesce(F.col("gained_ms") >= F.col("emptied_ms"), F.lit(True))
    next_emptied_ms = F.array_min(F.filter("all_emptied_ms", lambda at_ms: at_ms > F.col("gained_ms")))
    until_ms = F.least(
        F.when(F.col("is_held"), F.lit(STILL_HELD_MS)).otherwise(F.col("lost_ms")), next_emptied_ms
    )
    had_a_copy = F.col("is_carrier") & F.col("gained_ms").isNotNull()
    return (
        by_engine.join(F.broadcast(emptied), "node", "left")
        .groupBy("origin", "number")
        .agg(
            F.max(is_left).alias("left"),
            F.max(is_left & F.col("is_carrier")).alias("carried_left"),
            F.max(F.col("ran_out") & F.col("is_carrier")).alias("ran_out"),
            F.max(F.when(had_a_copy, until_ms)).alias("carried_until_ms"),
        )
    )


def had_until_expiry(over_ms: Column) -> Column:
    """Return whether a carrier had a copy until `over_ms`, from the columns of `copies_at_end`.

    An engine that is down records no `expired`: it still has its copies, until a restart without its store.
    """
    held = F.coalesce(F.col("carried_until_ms") >= over_ms, F.lit(False))
    return F.coalesce(F.col("ran_out"), F.lit(False)) | held


def outcomes(
    expected: DataFrame, delivered: DataFrame, end_ms: int, copies: DataFrame | None = None
) -> DataFrame:
    """Return the outcome of every expected delivery by the end of the run (`delivered`, `withdrawn`,
    `missed`, `lost` or `open`), and whether it had its `whole` lifetime. `copies` is `Run.copies_at_end`;
    without it nothing counts as lost.

    A delivery without a matching subscription is a row with the outcome `unexpected` and without an event.
    """
    over_ms = F.col("event_ms") + F.col("lifetime_ms")
    withdrawn_ms = F.col("withdrawn_ms")
    is_withdrawn = F.coalesce((withdrawn_ms < over_ms) & (withdrawn_ms <= end_ms), F.lit(False))
    if copies is None:
        expected = expected.withColumn("left", F.lit(True))
    else:
        expected = expected.join(copies.select("origin", "number", "left"), ["origin", "number"], "left")
    return expected.join(delivered, [*PAIR], "full").select(
        *EXPECTED.names,
        "delivered_ms",
        "hops",
        "times",
        (F.col("delivered_ms") - F.col("event_ms")).alias("delay_ms"),
        F.when(F.col("event_ms").isNull(), "unexpected")
        .when(F.col("delivered_ms").isNotNull(), "delivered")
        .when(is_withdrawn, "withdrawn")
        .when(over_ms <= F.lit(end_ms), "missed")
        .when(~F.coalesce("left", F.lit(True)), "lost")
        .otherwise("open")
        .alias("outcome"),
        ((over_ms <= F.lit(end_ms)) & ~is_withdrawn).alias("whole"),
    )


def pairs(outcomes: DataFrame) -> DataFrame:
    """Reduce outcomes to one row per pair; its event, delay and outcome are the same in all its rows."""
    return outcomes.where("first")


def delivery_ratio(frame: DataFrame, *by: str) -> DataFrame:
    """Count the expected deliveries (`expected`) and every outcome, and compute the ratios over all and over
    those with their whole lifetime, for each value of `by`.

    On pairs without `by` it is the delivery ratio of the run; on outcomes by subscriber, id and seq that of
    every subscription; on pairs joined with `nodes` that of every group. Without expected deliveries the
    ratio is null.
    """
    return (
        frame.groupBy(*by)
        .agg(
            F.count("*").alias("expected"),
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
                "ratio": F.try_divide("delivered", "expected"),
                "whole_ratio": F.try_divide(
                    F.col("whole_delivered"), F.col("whole_delivered") + F.col("missed")
                ),
            }
        )
    )


def with_group(frame: DataFrame, nodes: DataFrame) -> DataFrame:
    """Add the subscriber's group and role."""
    who = nodes.select(F.col("node").alias("subscriber"), "group", "role")
    return frame.join(F.broadcast(who), "subscriber", "left")


def with_run(frame: DataFrame, manifest: Manifest) -> DataFrame:
    """Add scenario, policy and seed, so that the rows of many runs can be combined and grouped."""
    return frame.select(
        F.lit(manifest.name).alias("scenario"),
        F.lit(manifest.policy).cast("string").alias("policy"),
        F.lit(manifest.seed).cast("long").alias("seed"),
        *frame.columns,
    )


def tally(outcomes: DataFrame) -> DataFrame:
    """Count the outcomes at the finest level that any figure needs, in one pass.

    By subscription revision and language; by whether a row is the `first` of its pair, to count pairs instead
    of rows; and by violations: `repeated` deliveries, and `unexpected` ones, which match no subscription and
    have no revision.
    """
    marked = outcomes.withColumns(
        {
            "repeated": F.coalesce(F.col("times") > 1, F.lit(False)),
            "unexpected": F.col("outcome") == "unexpected",
            "first": F.coalesce("first", F.lit(True)),
        }
    )
    by = ("subscriber", "id", "seq", "language", "first", "repeated", "unexpected")
    return marked.transform(delivery_ratio, *by)


def over_time(pairs: DataFrame, bin_ms: int) -> DataFrame:
    """Count, for each bin of simulated time, the pairs that became expected and those that were delivered."""
    became_expected = pairs.select(
        _bin("event_ms", bin_ms), F.lit(1).alias("expected"), F.lit(0).alias("delivered")
    )
    arrived = pairs.where(F.col("delivered_ms").isNotNull()).select(
        _bin("delivered_ms", bin_ms), F.lit(0).alias("expected"), F.lit(1).alias("delivered")
    )
    return (
        became_expected.unionAll(arrived)
        .groupBy("bin")
        .agg(F.sum("expected").alias("expected"), F.sum("delivered").alias("delivered"))
        .transform(in_order, "bin")
    )


def _count_of(outcome: str) -> Column:
    return F.count(F.when(F.col("outcome") == outcome, True))


def _bin(column: str, bin_ms: int) -> Column:
    return F.floor(F.col(column) / F.lit(bin_ms)).alias("bin")
