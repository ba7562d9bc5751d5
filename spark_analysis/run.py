"""Opens the folder of a run and gives its tables as DataFrames.

The whole trace is looked at before Spark starts (`dens.trace.recorded_run`): what is damaged or missing is
refused by name, and the number of rows is known without a job. A table that nothing was written to is an
empty frame.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from dens.trace.manifest import Manifest
from dens.trace.recorded_run import RecordedRun, recorded_run
from dens.trace.schema import NUMBERED_BY_CLASS, RENAMED_WORDS, SCHEMA_VERSION
from spark_analysis.devices import Devices, devices_of
from spark_analysis.errors import TraceError
from spark_analysis.languages import languages_of
from spark_analysis.metrics import delivery, imprecision, truth
from spark_analysis.metrics.documents import documents_judged
from spark_analysis.metrics.holding import copies_at_end
from spark_analysis.metrics.owed import SubscriptionRevision, owed, subscription_revisions
from spark_analysis.schema import TABLES
from spark_analysis.session.session import open_session

SMALL_TABLE_ROWS: Final = 200_000
"""Up to here a table is read as one partition: a shuffle would cost more than it spreads."""
SMALL_RUN_ROWS: Final = 1_000_000
"""Up to here planning and compiling a query takes longer than running it."""
LARGE_RUN_ROWS: Final = 20_000_000
"""From here on Java's optimising compiler earns what it costs; at five million it took a third more time."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run whose trace has been found readable. `partial` says that it stopped before its end."""

    recorded: RecordedRun
    spark: SparkSession

    @property
    def path(self) -> Path:
        """Return the run's folder."""
        return self.recorded.path

    @property
    def manifest(self) -> Manifest:
        """Return what the run says about itself."""
        return self.recorded.manifest

    @property
    def small(self) -> bool:
        """Tell whether planning and compiling a query takes longer than running it."""
        return self.recorded.rows() <= SMALL_RUN_ROWS

    @property
    def partial(self) -> bool:
        """Tell whether the run stopped before its end."""
        return self.manifest.partial

    def rows(self, name: str) -> int:
        """Return how many rows a table has, from its files' footers."""
        return self.recorded.rows(_known(name))

    def table(self, name: str) -> DataFrame:
        """Return a table with exactly the columns of docs/trace-format.md."""
        schema = TABLES[_known(name)]
        if not self.rows(name):
            # Spark sees that this is empty and leaves out everything that would be computed from it.
            nothing = self.spark.range(1).where(F.lit(False))
            return nothing.select(*(F.lit(None).cast(field.dataType).alias(field.name) for field in schema))
        paths = (_unglobbed(part.path) for part in self.recorded.parts[name])
        frame = self.spark.read.schema(schema).parquet(*paths)
        if self.manifest.schema_version < SCHEMA_VERSION:
            for (table, column), words in RENAMED_WORDS.items():
                frame = (
                    frame.replace(list(words), list(words.values()), subset=[column])
                    if table == name
                    else frame
                )
        return frame.coalesce(1) if self.rows(name) <= SMALL_TABLE_ROWS else frame

    def small_table(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table that is small by construction, `nodes` or `subscriptions`, without
        a job.
        """
        rows: list[dict[str, Any]] = self.recorded.table(_known(name)).to_pylist()
        return rows

    def revisions(self) -> tuple[SubscriptionRevision, ...]:
        """Return every revision of every subscription, ordered by creation."""
        return subscription_revisions(self.small_table("subscriptions"))

    def outcomes(
        self,
        revisions: Sequence[SubscriptionRevision] | None = None,
        copies: DataFrame | None = None,
    ) -> DataFrame:
        """Return what became of every notification for every subscription revision it was owed to. `copies`
        are the `copies_at_end`, where the caller has them.
        """
        revisions = self.revisions() if revisions is None else revisions
        languages = languages_of(self.manifest)
        owing = self.table("notifications").transform(owed(revisions, languages))
        told = self.table("messages").where(~F.col("language").isin(*languages.composed))
        delivered = told.transform(delivery.deliveries)
        if self.manifest.node is not None:  # There may be copies elsewhere.
            return delivery.outcomes(owing, delivered, self.manifest.simulated_ms)
        left = self.copies_at_end() if copies is None else copies
        return delivery.outcomes(owing, delivered, self.manifest.simulated_ms, left)

    @property
    def devices(self) -> Devices:
        """Return which device each node is in."""
        return devices_of(self.small_table("nodes"))

    def copies_at_end(self) -> DataFrame:
        """Return of every notification whether a copy is left at the end, and who had one before."""
        return copies_at_end(self.table("messages"), self.table("node_state"), self.devices)

    def wanted(self) -> DataFrame:
        """Return every reading and document × every subscription in force that it matches, told or not."""
        revisions = self.revisions()
        return self.judged(revisions).transform(truth.wanted(revisions))

    def judged(self, revisions: Sequence[SubscriptionRevision]) -> DataFrame:
        """Return every reading and every document that one of these revisions wanted, with its matches
        packed.
        """
        languages = languages_of(self.manifest)
        readings = self.table("filter_decisions").transform(truth.judged(revisions, languages))
        if self.manifest.schema_version < NUMBERED_BY_CLASS:
            readings = readings.withColumn("event", F.lit(None).cast("int"))
        if not self.rows("documents"):
            return readings
        return readings.unionByName(self.table("documents").transform(documents_judged(revisions, languages)))

    def disagreements(self, revisions: Sequence[SubscriptionRevision]) -> DataFrame:
        """Return, for each language, how often readings of sensors that err, as they were told, and as they
        truly were, are not wanted by the same subscriptions.
        """
        judged, wanted = truth.judged(revisions, languages_of(self.manifest)), truth.wanted(revisions)
        true = self.table("true_readings")
        told = imprecision.told_of(self.table("filter_decisions"), true)
        return imprecision.disagreements(
            told.transform(judged).transform(wanted),
            imprecision.as_judged(true).transform(judged).transform(wanted),
            revisions,
        )

    def fates(self) -> DataFrame:
        """Return what became of every pair of reading and subscriber that was wanted or told."""
        return truth.fates(
            self.wanted(),
            self.outcomes(),
            self.table("notifications"),
            self.table("messages"),
            self.copies_at_end(),
            languages_of(self.manifest).plain,
        )

    def delays(self) -> DataFrame:
        """Return every owed pair of notification and subscriber with its delay; null when it had not
        arrived.
        """
        return self.outcomes().transform(delivery.pairs)


def open_run(path: str | Path, spark: SparkSession | None = None) -> Run:
    """Open the folder that `dens run` wrote. Without a session one is opened, after the trace was found
    readable.

    Raises what `dens.trace.recorded_run.recorded_run` does.
    """
    recorded = recorded_run(Path(path))
    return Run(recorded, spark or open_session(large=recorded.rows() >= LARGE_RUN_ROWS))


def is_large(path: str | Path) -> bool:
    """Tell whether a run is too large for a session that is set up for quick answers; raise what
    `open_run` does. Nothing of Spark is needed for it.
    """
    return recorded_run(Path(path)).rows() >= LARGE_RUN_ROWS


def _known(name: str) -> str:
    if name not in TABLES:
        raise TraceError(f'a trace has no table "{name}"; it has {", ".join(TABLES)}')
    return name


def _unglobbed(path: Path) -> str:
    """Return the path so that Spark takes `*`, `[` and the like in a folder's name literally."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", str(path))
