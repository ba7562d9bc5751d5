"""Follows a run while it is written: Structured Streaming brings in each part of its trace exactly once.

Spark notes which files belong to a batch before it begins with the batch, and that a batch is done
afterwards. Killed in between, it does the same batch again after the restart: the same files under the same
number. What a batch says is written to a file of that number, whole or not at all, so that doing it again
replaces the file by its equal, and the state of the run is what all files together say. Each fact therefore
counts once, however often the follower dies.

Everything is kept in the folder `live` of the run and goes when the run goes.
"""

import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException, StreamingQueryException
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
from spark_analysis.copies_left import NOTHING_KNOWN, CopiesLeft, copies_left
from spark_analysis.devices import devices_of
from spark_analysis.errors import NoSpark, TraceError
from spark_analysis.languages import languages_of
from spark_analysis.live.state import GIVEN_UP, Batch, Delivered, GivenUp, LiveFigures, LiveState, Notified
from spark_analysis.metrics.owed import SubscriptionRevision
from spark_analysis.schema import TABLES
from spark_analysis.session.connect import is_remote
from spark_analysis.streams import held_alone, refuse_patterns

FOLLOWED: Final = ("subscriptions", "notifications", "messages")
"""The tables that are followed. A run's other tables are not needed for its figures."""

STEPS: Final = ("created", "stored", "delivered", *GIVEN_UP)
"""The steps of messages that are followed: what figures are made of, and those that every message has, which
say how far the trace is known. All steps would be several times as many.
"""

MINUTE_MS: Final = 60_000

_PARTS_AT_ONCE: Final = 64
"""So many parts are read in one batch at most: somebody who begins late catches up in steps."""
_LARGEST_BATCH: Final = 1 << 30
"""Bytes of what one batch said."""
_BEGIN_TIMEOUT_S: Final = 30.0
_LOOK_EVERY_S: Final = 0.2

GONE_AFTER_S: Final = 10.0
"""A run that nobody has held for so long is taken for given up; a node that starts anew is there sooner."""

Tell = Callable[[LiveFigures, Manifest], None]
"""Told the figures after each batch, with what the run says of itself."""


def wait_for_run(folder: Path, say: Callable[[str], None]) -> None:
    """Return when there is a run in the folder; say at first when there is none yet."""
    if folder.exists() and not folder.is_dir():
        raise TraceError(f"{folder}: is a file; a run is a folder")
    if not (folder / "manifest.json").is_file():
        say(f"waiting for {folder} to begin …")
    while not (folder / "manifest.json").is_file():
        time.sleep(_LOOK_EVERY_S)


def follow(
    folder: Path,
    spark: SparkSession,
    tell: Tell,
    *,
    window_ms: int,
    every_s: float,
    once: bool = False,
    patience_s: float = GONE_AFTER_S,
) -> LiveFigures:
    """Follow a run until it ends, or with `once` as far as it is now; return its figures.

    A run that nobody has written for `patience_s` is over too, although its manifest still says `running`.
    Called again, it goes on where it was. Raises `TraceError` when the folder is no run, when somebody else
    follows it already, and when the run is taken away because it failed.
    """
    folder = folder.absolute()
    if is_remote(spark):
        raise NoSpark("a run cannot be followed through Spark Connect; name a master, or leave it out")
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
                tell(state.figures(manifest.simulated_ms, window_ms, all_taken=False), manifest)

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
        except (PySparkException, Py4JJavaError) as error:
            raise _useless(place, "Spark's own notes are damaged") from error
        try:
            _wait_for_end(folder, query, once, patience_s)
        except StreamingQueryException as error:
            _refuse_vanished(folder)
            raise TraceError(f"{folder}: cannot be followed any more: {_reason(error)}") from error
        finally:
            query.stop()
        is_over = had_ended or not once
        copies = _copies(folder) if is_over else NOTHING_KNOWN
        return state.figures(read_manifest(folder).simulated_ms, window_ms, all_taken=is_over, copies=copies)


class BatchLog:
    """The batches that were brought in, a file each."""

    def __init__(self, place: Path) -> None:
        """Begin anew where Spark's own notes are gone: its numbers begin with 0 again."""
        self._folder = place / "batches"
        if not (place / "checkpoint" / "metadata").is_file():
            for old in ("batches", "checkpoint"):
                shutil.rmtree(place / old, ignore_errors=True)
        self._folder.mkdir(parents=True, exist_ok=True)

    def write(self, batch: Batch) -> None:
        """Keep a batch; nobody ever sees half of it, and it is on the disk before Spark takes it as done."""
        write_whole(
            self._folder / f"{batch.number:08}.json", batch.to_text().encode(), within=self._folder.parent
        )

    def batches(self) -> Iterator[Batch]:
        """Read all that is kept, in order."""
        for path in sorted(self._folder.glob("*.json")):
            try:
                yield Batch.from_text(read_in(self._folder, path.name, _LARGEST_BATCH).decode())
            except (OSError, ValueError, KeyError, TypeError, RecursionError, DocumentError) as error:
                raise _useless(self._folder.parent, f"{path.name} is damaged") from error


def _copies(folder: Path) -> CopiesLeft:
    """Return which notifications of a run that is over have a copy left."""
    run = recorded_run(folder)
    return copies_left(run, devices_of(run.table("nodes").to_pylist()))


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

    A batch is small and must not wait: in one partition nothing has to be shuffled. Of steps after which
    nothing is given up only the last moment counts; they are one group without a name.
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
    wished = [row["subscriptions"] for row in rest if row["what"] == "subscription"]
    told = [row["notifications"] for row in rest if row["what"] == "notification"]
    seen = [row["steps"] for row in rest if row["what"] == "step"]
    return Batch(
        number,
        tuple(
            sorted(
                (SubscriptionRevision(**_plain(row)) for row in wished),
                key=lambda one: (one.created_ms, one.subscriber, one.id, one.seq),
            )
        ),
        tuple(sorted((Notified(**_plain(row)) for row in told), key=lambda one: (one.origin, one.number))),
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
    """Refuse a run that is complete and has fewer parts than it once had, as a report does."""
    parts = {table: parts_in(folder, table) for table in TABLES}
    refuse_losses(folder, read_manifest(folder), parts)


def _useless(place: Path, why: str) -> TraceError:
    return TraceError(
        f"{place}: what was brought in so far cannot be gone on with ({why}); "
        "remove that folder and call again, then all is brought in anew"
    )


def _refuse_foreign_notes(folder: Path, place: Path) -> None:
    """Refuse notes of Spark about files elsewhere: of a run that was moved, or of one that somebody sent to
    have other files read.
    """
    of_this_run = re.compile(re.escape(f"{folder}/trace/") + r"[a-z_]+/part-[0-9]+\.parquet")
    for note in (place / "checkpoint" / "sources").glob("*/*"):
        text = read_in(place, str(note.relative_to(place)), _LARGEST_BATCH).decode(errors="replace")
        for found in re.findall(r'"path" *: *"((?:[^"\\]|\\.)*)"', text):
            if of_this_run.fullmatch(re.sub("^file:/+", "/", unquote(found))) is None:
                raise _useless(place, "they are about files elsewhere")


def _refuse_vanished(folder: Path) -> None:
    """Say so when the run is not there any more: a run that fails removes its folder."""
    if not (folder / "manifest.json").is_file():
        raise TraceError(f"{folder}: the run was taken away while it was followed; it failed")


def _wait_for_tables(folder: Path) -> None:
    """Wait until a run that has just begun has made its folders."""
    read_manifest(folder)
    end = time.monotonic() + _BEGIN_TIMEOUT_S
    while not all(path_in(folder, f"trace/{table}").is_dir() for table in FOLLOWED):
        if time.monotonic() > end:
            raise TraceError(f"{folder}: has no trace to follow; run the scenario again")
        time.sleep(_LOOK_EVERY_S)


def _wait_for_end(folder: Path, query: StreamingQuery, once: bool, patience_s: float) -> None:
    """Return when the run has ended, or was given up, and all of it was brought in. A run that ended writes
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
    """Hold what is kept of a run for this process; the system lets go of it when the process dies, however it
    does. Spark writes there too and follows links, so there may be none.
    """
    place = path_in(folder, "live")
    place.mkdir(exist_ok=True)
    refuse_links_below(folder, "live")
    with held_alone(place, f"{place.parent}: somebody else follows this run already"):
        yield place


def _reason(error: Exception) -> str:
    with suppress(IndexError):
        return str(error).strip().splitlines()[0]
    return type(error).__name__
