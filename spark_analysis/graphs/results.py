"""Writes matches as a folder of Parquet, atomically, and counts totals in the same pass."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.graphs.filter_batch import POSITION, pairs
from spark_analysis.session.worker_errors import translated_worker_errors


@dataclass(frozen=True, slots=True)
class Totals:
    """Numbers of publications, matches, undecided matches and invalid publications."""

    publications: int = 0
    matches: int = 0
    undecided: int = 0
    faults: int = 0
    """Publications that are not valid vectors."""
    first_fault: str = ""

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            self.publications + other.publications,
            self.matches + other.matches,
            self.undecided + other.undecided,
            self.faults + other.faults,
            self.first_fault or other.first_fault,
        )


def write_matches(judged_rows: DataFrame, target: Path, *, as_rows: bool) -> Totals:
    """Write matches to a folder, one row per publication or with `as_rows` one per match.

    The folder is replaced atomically, so that readers never see a partial result.
    """
    totals = Observation("totals")
    observed = judged_rows.observe(
        totals,
        F.count(F.lit(1)).alias("publications"),
        _positions("subscriptions").alias("matches"),
        _positions("undecided").alias("undecided"),
        F.count("fault").alias("faults"),
        F.min(F.concat(F.lit("publication "), F.col("number"), F.lit(": "), F.col("fault"))).alias(
            "first_fault"
        ),
    )
    beside = target.with_name(f".{target.name}.writing")
    with translated_worker_errors("the publications could not be matched"):
        (pairs(observed) if as_rows else observed).write.mode("overwrite").parquet(str(beside))
    found = {name: value for name, value in totals.get.items() if value is not None}
    put_in_place(beside, target)
    return Totals(**found)


def put_in_place(beside: Path, target: Path) -> None:
    """Replace a folder by a complete new one."""
    old = target.with_name(f".{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    beside.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _positions(column: str) -> Column:
    return F.coalesce(F.sum((F.length(column) / POSITION.itemsize).cast("long")), F.lit(0))
