"""Opens a run and provides its tables as DataFrames.

The trace is validated before Spark starts (`dens.trace.recorded_run`): damaged or missing parts are reported
by name, and row counts need no Spark job. A table without rows is an empty frame.
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
from spark_analysis.metrics import delivery, sensor_errors, truth
from spark_analysis.metrics.documents import matched_documents
from spark_analysis.metrics.expected import SubscriptionRevision, expected_deliveries, subscription_revisions
from spark_analysis.schema import TABLES
from spark_analysis.session.session import open_session

SMALL_TABLE_ROWS: Final = 200_000
"""Tables up to this size are read as one partition: a shuffle would cost more than it gains."""
SMALL_RUN_ROWS: Final = 1_000_000
"""Up to this size planning and compiling a query takes longer than running it."""
LARGE_RUN_ROWS: Final = 20_000_000
"""From this size on Java's optimising compiler pays off; at five million rows it cost a third more time."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run with a validated trace."""

    recorded: RecordedRun
    spark: SparkSession

    @property
    def path(self) -> Path:
        return self.recorded.path

    @property
    def manifest(self) -> Manifest:
        return self.recorded.manifest

    @property
    def small(self) -> bool:
        """Return whether planning and compiling a query takes longer than running it."""
        return self.recorded.rows() <= SMALL_RUN_ROWS

    @property
    def partial(self) -> bool:
        """Return whether the run stopped before the end of its scenario."""
        return self.manifest.partial

    def rows(self, name: str) -> int:
        """Return the number of rows of a table, from the file footers."""
        return self.recorded.rows(_known(name))

    def table(self, name: str) -> DataFrame:
        """Return a table with exactly the columns of docs/reference/trace-format.md."""
        schema = TABLES[_known(name)]
        if not self.rows(name):
            # Spark's optimiser removes everything that depends on an empty frame.
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
        """Return the rows of a small table (`nodes`, `subscriptions`, `node_state`) without a Spark job."""
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
        """Return the outcome of every expected delivery per subscription revision. Pass `copies` if
        `copies_at_end` is already computed.
        """
        revisions = self.revisions() if revisions is None else revisions
        languages = languages_of(self.manifest)
        expected = self.table("notifications").transform(expected_deliveries(revisions, languages))
        messages = self.table("messages").where(~F.col("language").isin(*languages.composed))
        delivered = messages.transform(delivery.deliveries)
        if self.manifest.node is not None:  # other nodes may have copies
            return delivery.outcomes(expected, delivered, self.manifest.simulated_ms)
        left = self.copies_at_end() if copies is None else copies
        return delivery.outcomes(expected, delivered, self.manifest.simulated_ms, left)

    @property
    def devices(self) -> Devices:
        return devices_of(self.small_table("nodes"))

    def copies_at_end(self) -> DataFrame:
        """Return, for every notification, whether copies remain at the end, and who had one before."""
        return delivery.copies_at_end(self.table("messages"), self.table("node_state"), self.devices)

    def wanted(self) -> DataFrame:
        """Return every match of a reading or document with a subscription in force, delivered or not."""
        revisions = self.revisions()
        return self.judged(revisions).transform(truth.wanted(revisions))

    def judged(self, revisions: Sequence[SubscriptionRevision]) -> DataFrame:
        """Return every reading and document that matches one of these revisions, with its matches packed."""
        languages = languages_of(self.manifest)
        readings = self.table("filter_decisions").transform(truth.judged(revisions, languages))
        if self.manifest.schema_version < NUMBERED_BY_CLASS:
            readings = readings.withColumn("event", F.lit(None).cast("int"))
        if not self.rows("documents"):
            return readings
        return readings.unionByName(
            self.table("documents").transform(matched_documents(revisions, languages))
        )

    def disagreements(self, revisions: Sequence[SubscriptionRevision]) -> DataFrame:
        """Return, by language, how often the measured and the true values of erroneous sensors match
        different subscriptions.
        """
        judged, wanted = truth.judged(revisions, languages_of(self.manifest)), truth.wanted(revisions)
        true = self.table("true_readings")
        measured = sensor_errors.with_true_reading(self.table("filter_decisions"), true)
        return sensor_errors.disagreements(
            measured.transform(judged).transform(wanted),
            sensor_errors.as_filter_decisions(true).transform(judged).transform(wanted),
            revisions,
        )

    def fates(self) -> DataFrame:
        """Return the fate of every pair of reading and subscriber that matches or was delivered."""
        return truth.fates(
            self.wanted(),
            self.outcomes(),
            self.table("notifications"),
            self.table("messages"),
            self.copies_at_end(),
            languages_of(self.manifest).plain,
        )

    def delays(self) -> DataFrame:
        """Return every expected pair of notification and subscriber with its delay; null if it had not
        arrived.
        """
        return self.outcomes().transform(delivery.pairs)


def open_run(path: str | Path, spark: SparkSession | None = None) -> Run:
    """Open a run folder. Without a session, one is opened after the trace is validated.

    Raises the errors of `dens.trace.recorded_run.recorded_run`.
    """
    recorded = recorded_run(Path(path))
    return Run(recorded, spark or open_session(large=recorded.rows() >= LARGE_RUN_ROWS))


def is_large(path: str | Path) -> bool:
    """Return whether a run needs a session for large data. Does not start Spark; raises what `open_run`
    raises.
    """
    return recorded_run(Path(path)).rows() >= LARGE_RUN_ROWS


def _known(name: str) -> str:
    if name not in TABLES:
        raise TraceError(f'a trace has no table "{name}"; it has {", ".join(TABLES)}')
    return name


def _unglobbed(path: Path) -> str:
    """Escape the characters that Spark would treat as a pattern."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", str(path))
