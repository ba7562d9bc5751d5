"""Where things happened: positions follow from the legs that nodes walk."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812


def meeting_places(contacts: DataFrame, motion: DataFrame) -> DataFrame:
    """Give one row a contact: where its two nodes were when it began, in the middle between them, and how
    long it lasted.

    A contact of a node whose motion is not there has no row.
    """
    begun = contacts.select("a", "b", "begin_ms", (F.col("end_ms") - F.col("begin_ms")).alias("time_ms"))
    placed = begun.transform(_placed, motion, "a").transform(_placed, motion, "b")
    return placed.select(
        "a",
        "b",
        "begin_ms",
        "time_ms",
        ((F.col("a_x_m") + F.col("b_x_m")) / 2).alias("x_m"),
        ((F.col("a_y_m") + F.col("b_y_m")) / 2).alias("y_m"),
    )


def _placed(moments: DataFrame, motion: DataFrame, who: str) -> DataFrame:
    """Add the position of the node in column `who` at `begin_ms`."""
    legs = motion.select(
        F.col("node").alias(who),
        F.col("begin_ms").alias("leg_begin_ms"),
        F.col("end_ms").alias("leg_end_ms"),
        *("x0_m", "y0_m", "x1_m", "y1_m"),
    )
    during = (F.col("leg_begin_ms") <= F.col("begin_ms")) & (F.col("begin_ms") < F.col("leg_end_ms"))
    return (
        moments.join(legs, who)
        .where(during)
        .withColumns({f"{who}_{axis}_m": _at_begin(axis) for axis in ("x", "y")})
        .drop("leg_begin_ms", "leg_end_ms", "x0_m", "y0_m", "x1_m", "y1_m")
    )


def _at_begin(axis: str) -> Column:
    walked = (F.col("begin_ms") - F.col("leg_begin_ms")) / (F.col("leg_end_ms") - F.col("leg_begin_ms"))
    begin, end = F.col(f"{axis}0_m"), F.col(f"{axis}1_m")
    return begin + (end - begin) * walked
