"""Sums over the tables of a run, computed by Spark."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.run import Run
from spark_analysis.summed_tables import Count


@dataclass(frozen=True, slots=True)
class SparkTables:
    """The tables of a run that Spark reads."""

    run: Run

    def sums(self, table: str, columns: Sequence[str], count: Count) -> Mapping[str, float]:
        """Return the sums of what `count` gives for these columns of every part of a table."""

        def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                found = count(batch)
                yield pa.RecordBatch.from_arrays(
                    [pa.array(list(found), pa.string()), pa.array(map(float, found.values()), pa.float64())],
                    names=["name", "value"],
                )

        rows = self.run.table(table).select(*columns).mapInArrow(counted, "name string, value double")
        return {
            row["name"]: row["value"]
            for row in rows.groupBy("name").agg(F.sum("value").alias("value")).collect()
        }
