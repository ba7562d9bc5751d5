"""What was judged, on the disk: a folder of Parquet that appears whole, and its totals from the same pass."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.graphs.filter_batch import POSITION, pairs
from spark_analysis.session.worker_errors import told_in_words


@dataclass(frozen=True, slots=True)
class Totals:
    """How much was judged and found."""

    publications: int = 0
    matches: int = 0
    undecided: int = 0
    faults: int = 0
    """Publications that are no valid vectors."""
    first_fault: str = ""

    def __add__(self, other: "Totals") -> "Totals":
        """Return both together."""
        return Totals(
            self.publications + other.publications,
            self.matches + other.matches,
            self.undecided + other.undecided,
            self.faults + other.faults,
            self.first_fault or other.first_fault,
        )


def write_matches(judged_rows: DataFrame, target: Path, *, as_rows: bool) -> Totals:
    """Write what was judged to a folder, one row a publication or with `as_rows` one a match.

    It is written beside and put in place of what was there, so nobody ever reads half of it.
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
    with told_in_words("the publications could not be judged"):
        (pairs(observed) if as_rows else observed).write.mode("overwrite").parquet(str(beside))
    found = {name: value for name, value in totals.get.items() if value is not None}
    put_in_place(beside, target)
    return Totals(**found)


def put_in_place(beside: Path, target: Path) -> None:
    """Let a folder that is whole take the place of what its name stood for."""
    old = target.with_name(f".{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    beside.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _positions(column: str) -> Column:
    return F.coalesce(F.sum((F.length(column) / POSITION.itemsize).cast("long")), F.lit(0))
