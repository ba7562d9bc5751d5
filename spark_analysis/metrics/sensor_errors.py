"""Effect of sensor errors: matches of measured and of true values.

A reading of a sensor with a stated error is in the trace twice: as measured (`filter_decisions`) and without
the error (`true_readings`). Both are matched by every language's ground truth. For every pair (reading,
subscription revision in force) that either matches, both agree, only the measured reading matches (*false*),
or only the true one (*missed*).
"""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.metrics.expected import SubscriptionRevision
from spark_analysis.metrics.truth import READING

_PAIR: Final = (*READING, "subscriber", "id", "seq")


def as_filter_decisions(true_readings: DataFrame) -> DataFrame:
    """Return true readings with the columns of `filter_decisions` that matching needs."""
    return true_readings.select(
        "*", F.lit(0).alias("installed"), F.lit(0).alias("released"), F.lit(None).alias("suppressed")
    )


def with_true_reading(filter_decisions: DataFrame, true_readings: DataFrame) -> DataFrame:
    """Return the decisions about readings whose true values are known."""
    return filter_decisions.join(
        true_readings.select("at_ms", "node", "event_number"), ["at_ms", "node", "event_number"], "left_semi"
    )


def disagreements(
    measured: DataFrame, true: DataFrame, revisions: Sequence[SubscriptionRevision]
) -> DataFrame:
    """Count, by language, the pairs on which measured and true readings agree and disagree.

    Both frames have the form `truth.WANTED`.
    """
    languages = F.create_map(
        *(
            F.lit(part)
            for revision in revisions
            for part in (f"{revision.subscriber} {revision.id} {revision.seq}", revision.language)
        )
    )
    pairs = (
        measured.select(*_PAIR, F.lit(True).alias("measured"))
        .join(true.select(*_PAIR, F.lit(True).alias("true")), list(_PAIR), "full")
        .withColumn("language", languages[F.concat_ws(" ", "subscriber", "id", "seq")])
    )
    is_measured, is_true = F.col("measured").isNotNull(), F.col("true").isNotNull()
    return pairs.groupBy("language").agg(
        F.count_if(is_measured & is_true).alias("agreed"),
        F.count_if(is_measured & ~is_true).alias("false"),
        F.count_if(~is_measured & is_true).alias("missed"),
    )
