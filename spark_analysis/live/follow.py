"""Follows a run while it is being written; Structured Streaming brings in each part of its trace exactly
once.

Spark records the files of a batch before it starts the batch, and its completion afterwards. If it is killed
in between, it repeats the batch with the same files and number after the restart. The facts of a batch are
written atomically to a file of that number, so a repetition replaces the file by an equal one, and the state
of the run is the union of all files. Every fact counts once, however often the follower dies.

All data are in the folder `live` of the run.
"""

import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from pyspark.errors import StreamingQueryException
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from dens.config.atomic_write import write_whole
from dens.config.problems import DocumentError
from dens.config.untrusted_folder import parts_in, path_in, read_in, refuse_links_below
from dens.trace.folder_lock import is_being_written
from dens.trace.losses import refuse_losses
from dens.trace.manifest import Manifest, read_manifest
from dens.trace.recorded_run import recorded_run
from spark_analysis.devices import devices_of
from spark_analysis.errors import NoSpark, TraceError
from spark_analysis.languages import languages_of
from spark_analysis.live.state import (
    GIVEN_UP,
    Batch,
    Delivered,
    GivenUp,
    LiveFigures,
    LiveState,
    NotificationFact,
)
from spark_analysis.metrics.expected import SubscriptionRevision
from spark_analysis.remaining_copies import UNKNOWN_COPIES, RemainingCopies, remaining_copies
from spark_analysis.schema import TABLES
from spark_analysis.session.connect import is_remote
from spark_analysis.streams import cause_of, exclusive_folder, refuse_patterns

FOLLOWED: Final = ("subscriptions", "notifications", "messages")
"""The followed tables; the figures need no others."""

STEPS: Final = ("created", "stored", "delivered", *GIVEN_UP)
"""The followed steps of messages: those that the figures need, and those that every message has, which show
how far the trace is known. All steps would be several times as many.
"""

MINUTE_MS: Final = 60_000

_PARTS_AT_ONCE: Final = 64
"""Maximum parts per batch, so that a late follower catches up in steps."""
_LARGEST_BATCH: Final = 1 << 30
"""Maximum bytes of a batch file."""
_BEGIN_TIMEOUT_S: Final = 30.0
_LOOK_EVERY_S: Final = 0.2

GONE_AFTER_S: Final = 10.0
"""A run without a writer for this long is considered abandoned; a restarting node is back sooner."""

OnFigures = Callable[[LiveFigures, Manifest], None]
"""Receives the figures after each batch, with the manifest."""


def wait_for_run(folder: Path, say: Callable[[str], None]) -> None:
    """Return when the folder contains a run; report at first if it does not."""
    if folder.exists() and not folder.is_dir():
        raise TraceError(f"{folder}: is a file; expected the folder of a run")
    if not (folder / "manifest.json").is_file():
        say(f"waiting for {folder} to begin …")
    while not (folder / "manifest.json").is_file():
        time.sleep(_LOOK_EVERY_S)


def follow(
    folder: Path,
    spark: SparkSession,
    on_figures: OnFigures,
    *,
    window_ms: int,
    every_s: float,
    once: bool = False,
    patience_s: float = GONE_AFTER_S,
) -> LiveFigures:
    """Follow a run until it ends, or with `once` up to its current state; return its figures.

    A run without a writer for `patience_s` has ended too, even if its status is still `running`. A repeated
    call continues. Raises `TraceError` if the folder is not a run, if another process follows it, or if the
    run is removed because it failed.
    """
    folder = folder.absolute()
    if is_remote(spark):
        raise NoSpark("a run cannot be followed through Spark Connect; use this machine or a spark:// master")
    from spark_analysis.session.classic import SPARK_ERRORS

    refuse_patterns(folder, "a run")
    _wait_for_tables(folder)
    _refuse_lost_parts(folder)
    with _alone(folder) as place:
        _refuse_foreign_notes(folder, place)
        state = LiveState(languages_of(read_manifest(folder)))
        log = BatchLog(place)
        for batch in log.batches():
            try:
                state.take(batch)
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
                raise _useless(place, f"batch {batch.number} is damaged") from error

        def bring_in(frame: DataFrame, number: int) -> None:
            batch = facts_of(frame, number)
            log.write(batch)
            if state.take(batch):
                manifest = read_manifest(folder)
                on_figures(state.figures(manifest.simulated_ms, window_ms, all_taken=False), manifest)

        writing = stream_of(folder, spark).writeStream.foreachBatch(bring_in)
        writing = writing.option("checkpointLocation", str(place / "checkpoint"))
        writing = (
            writing.trigger(availableNow=True)
            if once
            else writing.trigger(processingTime=f"{round(1000 * every_s)} milliseconds")
        )
        had_ended = read_manifest(folder).status != "running"
        try:
            query = writing.start()
        except SPARK_ERRORS as error:
            raise _useless(place, "Spark's own notes are damaged") from error
        try:
            _wait_for_end(folder, query, once, patience_s)
        except StreamingQueryException as error:
            _refuse_vanished(folder)
            raise TraceError(f"{folder}: following failed: {cause_of(error)}") from error
        finally:
            query.stop()
        is_over = had_ended or not once
        copies = _copies(folder) if is_over else UNKNOWN_COPIES
        return state.figures(read_manifest(folder).simulated_ms, window_ms, all_taken=is_over, copies=copies)


class BatchLog:
    """The batches so far, one file each."""

    def __init__(self, place: Path) -> None:
        """Start over if Spark's checkpoint is missing, because its batch numbers restart at 0."""
        self._folder = place / "batches"
        if not (place / "checkpoint" / "metadata").is_file():
            for old in ("batches", "checkpoint"):
                shutil.rmtree(place / old, ignore_errors=True)
        self._folder.mkdir(parents=True, exist_ok=True)

    def write(self, batch: Batch) -> None:
        """Write a batch atomically, before Spark considers it done."""
        write_whole(
            self._folder / f"{batch.number:08}.json", batch.to_text().encode(), within=self._folder.parent
        )

    def batches(self) -> Iterator[Batch]:
        """Read all batches in order."""
        for path in sorted(self._folder.glob("*.json")):
            try:
                yield Batch.from_text(read_in(self._folder, path.name, _LARGEST_BATCH).decode())
            except (OSError, ValueError, KeyError, TypeError, RecursionError, DocumentError) as error:
                raise _useless(self._folder.parent, f"{path.name} is damaged") from error


def _copies(folder: Path) -> RemainingCopies:
    """Return which notifications of a finished run have a remaining copy."""
    run = recorded_run(folder)
    return remaining_copies(run, devices_of(run.table("nodes").to_pylist()))


def stream_of(folder: Path, spark: SparkSession) -> DataFrame:
    """Return the followed tables as one stream, so that a batch has parts of all of them."""
    subscriptions, notifications, messages = (_stream(folder, spark, table) for table in FOLLOWED)
    steps = messages.where(F.col("kind").isin(*STEPS))
    return (
        _tagged(subscriptions, "subscription", F.struct(*TABLES["subscriptions"].names), "subscriptions")
        .unionByName(
            _tagged(
                notifications,
                "notification",
                F.struct("origin", "number", "at_ms", "language", "lifetime_ms", "vector"),
                "notifications",
            ),
            allowMissingColumns=True,
        )
        .unionByName(
            _tagged(steps, "step", F.struct("origin", "number", "node", "at_ms", "kind", "reason"), "steps"),
            allowMissingColumns=True,
        )
    )


def facts_of(frame: DataFrame, number: int) -> Batch:
    """Return the new facts in a batch of the stream.

    A batch is small and must be quick, so it is processed in one partition without shuffles. For steps that
    discard nothing only the last time counts; they form one group without a name.
    """
    frame = frame.coalesce(1)
    is_given_up = F.col("steps.kind").isin(*GIVEN_UP)
    minute_ms = F.floor(F.col("steps.at_ms") / MINUTE_MS) * MINUTE_MS
    steps = (
        frame.where(F.col("what") == "step")
        .groupBy(
            F.when(is_given_up, minute_ms).alias("minute_ms"),
            F.when(is_given_up, F.col("steps.kind")).alias("kind"),
            F.when(is_given_up, F.coalesce("steps.reason", F.lit(""))).alias("reason"),
        )
        .agg(F.count("*").alias("messages"), F.max("steps.at_ms").alias("last_ms"))
        .collect()
    )
    rest = frame.where((F.col("what") != "step") | (F.col("steps.kind") == "delivered")).collect()
    subscriptions = [row["subscriptions"] for row in rest if row["what"] == "subscription"]
    notifications = [row["notifications"] for row in rest if row["what"] == "notification"]
    seen = [row["steps"] for row in rest if row["what"] == "step"]
    return Batch(
        number,
        tuple(
            sorted(
                (SubscriptionRevision(**_plain(row)) for row in subscriptions),
                key=lambda one: (one.created_ms, one.subscriber, one.id, one.seq),
            )
        ),
        tuple(
            sorted(
                (NotificationFact(**_plain(row)) for row in notifications),
                key=lambda one: (one.origin, one.number),
            )
        ),
        tuple(
            sorted(
                (Delivered(row["origin"], row["number"], row["node"], row["at_ms"]) for row in seen),
                key=lambda one: (one.origin, one.number, one.subscriber, one.at_ms),
            )
        ),
        tuple(
            sorted(
                (
                    GivenUp(row["minute_ms"], row["kind"], row["reason"], row["messages"])
                    for row in steps
                    if row["kind"] is not None
                ),
                key=lambda one: (one.minute_ms, one.kind, one.reason),
            )
        ),
        max((row["last_ms"] for row in steps), default=0),
    )


def _plain(row: Row) -> dict[str, Any]:
    return {**row.asDict(), "vector": bytes(row["vector"])}


def _stream(folder: Path, spark: SparkSession, table: str) -> DataFrame:
    reader = spark.readStream.schema(TABLES[table]).option("maxFilesPerTrigger", _PARTS_AT_ONCE)
    return reader.option("pathGlobFilter", "part-*.parquet").parquet(str(folder / "trace" / table))


def _tagged(frame: DataFrame, what: str, facts: Column, column: str) -> DataFrame:
    return frame.select(F.lit(what).alias("what"), facts.alias(column))


def _refuse_lost_parts(folder: Path) -> None:
    """Reject a complete run that has fewer parts than it once had, as a report does."""
    parts = {table: parts_in(folder, table) for table in TABLES}
    refuse_losses(folder, read_manifest(folder), parts)


def _useless(place: Path, why: str) -> TraceError:
    return TraceError(
        f"{place}: the saved state cannot be used ({why}); remove that folder and call again to start over"
    )


def _refuse_foreign_notes(folder: Path, place: Path) -> None:
    """Reject a checkpoint about files elsewhere: of a moved run, or of a crafted one that should read other
    files.
    """
    of_this_run = re.compile(re.escape(f"{folder}/trace/") + r"[a-z_]+/part-[0-9]+\.parquet")
    for note in (place / "checkpoint" / "sources").glob("*/*"):
        text = read_in(place, str(note.relative_to(place)), _LARGEST_BATCH).decode(errors="replace")
        for found in re.findall(r'"path" *: *"((?:[^"\\]|\\.)*)"', text):
            if of_this_run.fullmatch(re.sub("^file:/+", "/", unquote(found))) is None:
                raise _useless(place, "they are about files elsewhere")


def _refuse_vanished(folder: Path) -> None:
    """Raise an error if the run was removed: a failed run removes its folder."""
    if not (folder / "manifest.json").is_file():
        raise TraceError(f"{folder}: the run was removed while it was followed; it failed")


def _wait_for_tables(folder: Path) -> None:
    """Wait until a new run has created its folders."""
    read_manifest(folder)
    end = time.monotonic() + _BEGIN_TIMEOUT_S
    while not all(path_in(folder, f"trace/{table}").is_dir() for table in FOLLOWED):
        if time.monotonic() > end:
            raise TraceError(f"{folder}: has no trace to follow; run the scenario again")
        time.sleep(_LOOK_EVERY_S)


def _wait_for_end(folder: Path, query: StreamingQuery, once: bool, patience_s: float) -> None:
    """Return when the run has ended or was abandoned, and all of it was brought in. An ended run writes
    nothing more.
    """
    if once:
        query.awaitTermination()
        return
    held = time.monotonic()
    while True:
        _refuse_vanished(folder)
        now = time.monotonic()
        if is_being_written(folder):
            held = now
        if read_manifest(folder).status != "running" or now - held > patience_s:
            query.processAllAvailable()
            return
        if not query.isActive:
            query.awaitTermination()  # raises what ended it
            return
        time.sleep(_LOOK_EVERY_S)


@contextmanager
def _alone(folder: Path) -> Iterator[Path]:
    """Lock the folder `live` for this process. Spark writes there and follows links, so links are
    rejected.
    """
    place = path_in(folder, "live")
    place.mkdir(exist_ok=True)
    refuse_links_below(folder, "live")
    with exclusive_folder(place, f"{place.parent}: another process already follows this run"):
        yield place
