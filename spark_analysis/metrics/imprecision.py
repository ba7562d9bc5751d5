"""What sensors that err cost: readings judged as they were told, and as they truly were.

A reading of a sensor with a stated error is in a trace twice, as it was told (`filter_decisions`) and as it
would have been without the error (`true_readings`). Each is judged by every language's own ground truth, and
of every pair (reading, subscription revision in force) that either of them wants one of three things is true:
both agree, only the told reading satisfies the subscription (*false*), or only the true one would have
(*missed*).
"""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.metrics.owed import SubscriptionRevision
from spark_analysis.metrics.truth import READING

_PAIR: Final = (*READING, "subscriber", "id", "seq")


def as_judged(true_readings: DataFrame) -> DataFrame:
    """Return true readings with the columns of `filter_decisions` that judging them needs."""
    return true_readings.select(
        "*", F.lit(0).alias("installed"), F.lit(0).alias("released"), F.lit(None).alias("suppressed")
    )


def told_of(filter_decisions: DataFrame, true_readings: DataFrame) -> DataFrame:
    """Return the decisions about readings of which the truth is known."""
    return filter_decisions.join(
        true_readings.select("at_ms", "node", "event_number"), ["at_ms", "node", "event_number"], "left_semi"
    )


def disagreements(told: DataFrame, true: DataFrame, revisions: Sequence[SubscriptionRevision]) -> DataFrame:
    """Count, for each language, the pairs on which what was told and what was true agree, and do not.

    Both frames are of the form `truth.WANTED`.
    """
    languages = F.create_map(
        *(F.lit(part) for one in revisions for part in (f"{one.subscriber} {one.id} {one.seq}", one.language))
    )
    pairs = (
        told.select(*_PAIR, F.lit(True).alias("told"))
        .join(true.select(*_PAIR, F.lit(True).alias("true")), list(_PAIR), "full")
        .withColumn("language", languages[F.concat_ws(" ", "subscriber", "id", "seq")])
    )
    is_told, is_true = F.col("told").isNotNull(), F.col("true").isNotNull()
    return pairs.groupBy("language").agg(
        F.count_if(is_told & is_true).alias("agreed"),
        F.count_if(is_told & ~is_true).alias("false"),
        F.count_if(~is_told & is_true).alias("missed"),
    )
