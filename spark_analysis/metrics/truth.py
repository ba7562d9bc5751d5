"""What should have been told: every reading that a watchdog judged × every subscription in force.

`owed` asks what became of the notifications that left a source. This asks one step earlier: which readings
did a subscriber want, whether or not a filter ever let them out? A reading is told in full, with all its
values, and given to the matcher that a DENS node uses (`reading_search`). Of every wanted pair (reading,
subscriber) exactly one *fate* is true, the best that any of its notifications and subscriptions had:

| fate | meaning |
| --- | --- |
| delivered | the application saw it |
| under_way | a carrier has a copy at the end of the run, with time left; not withdrawn |
| withdrawn | the subscription was withdrawn before it arrived, within its lifetime |
| too_late | a carrier had a copy until its lifetime was over |
| dropped | every carrier gave its copy up before: dropped, refused, or lost with its store |
| never_carried | it left the filter, and nobody but its source ever had it |
| held_back | the filter released nothing because of hysteresis or a minimum interval |
| not_asked_for_this | subscriptions were installed at the source, and none released it for this subscriber |
| not_asked | no subscription was installed at the source at that moment |

A filter never passes too little (every language is tested for it), so `not_asked_for_this` means that the
subscription had not come there yet. Subscriptions of languages that judge no readings have no part in this,
nor have notifications that tell of neither a reading nor a document: plain messages and composites.
Documents, which are told as they are, are judged in `metrics/documents.py`.

Matches are many more than readings, so they travel packed: `judged` has one row a reading, its matches as
bytes; `wanted` has one row a match, for whoever wants to see them. Counting needs the first only.
"""

import hashlib
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import BinaryType, BooleanType, IntegerType, LongType, StructField, StructType

from spark_analysis.metrics.overhead import NOTIFICATION_TYPES
from spark_analysis.metrics.owed import SubscriptionRevision
from spark_analysis.metrics.reading_search import Matches, ReadingSearch, bytes_of
from spark_analysis.metrics.run_languages import RunLanguages

FATES: Final = (
    "delivered",
    "under_way",
    "withdrawn",
    "too_late",
    "dropped",
    "never_carried",
    "held_back",
    "not_asked_for_this",
    "not_asked",
)
"""Best first; a pair has the first one that is true of it."""

READING: Final = ("node", "event", "event_number", "event_ms")
"""Readings are numbered apart in each event class. A document has no class; nor have, here, the readings of a
trace in which all of a source were numbered together.
"""

_int, _long = IntegerType(), LongType()

_OF_READING: Final = (
    StructField("node", _int, False),
    StructField("event", _int, True),
    StructField("event_number", _int, False),
    StructField("event_ms", _long, False),
    StructField("installed", _int, False),
    StructField("released", _int, False),
    StructField("held_back", BooleanType(), False),
)

JUDGED: Final = StructType(
    [
        *_OF_READING,
        StructField("subscribers", _int, False),
        StructField("revisions", BinaryType(), False),
        StructField("degrees", BinaryType(), False),
    ]
)
"""One row for each reading that somebody wanted: how many people did, and its matches, packed.

`revisions` are positions in the sequence of revisions, four bytes each, the lowest first; `degrees` has a
byte for each of them.
"""

WANTED: Final = StructType(
    [
        *_OF_READING,
        StructField("subscriber", _int, False),
        StructField("id", _int, False),
        StructField("seq", _int, False),
        StructField("degree_u8", _int, False),
    ]
)
"""One row for each (reading, subscription revision in force) that match."""

_POSITION: Final = np.dtype("<u4")


def judged(
    revisions: Sequence[SubscriptionRevision], languages: RunLanguages
) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of `filter_decisions` into who wanted each reading (`JUDGED`)."""
    name = hashlib.sha256(pickle.dumps((revisions, languages))).digest()

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if revisions:
                for begin, matches in _search(name, revisions, languages).matches(batch):
                    yield packed(batch, begin, matches)

    def transform(filter_decisions: DataFrame) -> DataFrame:
        readings = filter_decisions.select(
            "node",
            "event",
            "event_number",
            F.col("at_ms").alias("event_ms"),
            "installed",
            "released",
            F.col("suppressed").isNotNull().alias("held_back"),
            "attributes",
            "values",
            "exact",
        )
        return readings.mapInArrow(judge, JUDGED)

    return transform


def wanted(revisions: Sequence[SubscriptionRevision]) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of what was `judged` with these revisions into a row a match (`WANTED`)."""
    facts = {
        name: np.array([getattr(revision, name) for revision in revisions], np.int32)
        for name in ("subscriber", "id", "seq")
    }

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            positions = bytes_of(batch["revisions"])[1].view(_POSITION)
            ends, degrees = bytes_of(batch["degrees"])
            readings = np.repeat(np.arange(batch.num_rows), np.diff(ends))
            chosen = batch.select([field.name for field in _OF_READING]).take(readings)
            columns = [pa.array(facts[name][positions]) for name in facts]
            yield pa.RecordBatch.from_arrays(
                [*chosen.columns, *columns, pa.array(degrees.astype(np.int32))], names=WANTED.names
            )

    return lambda readings: readings.mapInArrow(unpack, WANTED)


def packed(batch: pa.RecordBatch, begin: int, matches: Matches) -> pa.RecordBatch:
    """Return the rows of `JUDGED` for the readings from `begin` on that have matches."""
    concerned = np.flatnonzero(matches.subscribers)
    ends = np.concatenate([[0], matches.ends[concerned]]).astype(np.int32)
    revisions = matches.revisions.astype(_POSITION, copy=False)
    chosen = batch.select([field.name for field in _OF_READING]).take(concerned + begin)
    columns = [
        *chosen.columns,
        pa.array(matches.subscribers[concerned]),
        _binary(_POSITION.itemsize * ends, revisions),
        _binary(ends, matches.degrees),
    ]
    return pa.RecordBatch.from_arrays(columns, names=JUDGED.names)


def _binary(ends: Any, data: Any) -> Any:
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(ends) - 1, buffers)


_loaded: dict[bytes, ReadingSearch] = {}
"""The search that this process used last, by what it holds: loading thousands of subscriptions for every
task of a query would take longer than the task.
"""


def _search(name: bytes, revisions: Sequence[SubscriptionRevision], languages: RunLanguages) -> ReadingSearch:
    if name not in _loaded:
        _loaded.clear()
        _loaded[name] = ReadingSearch(revisions, languages)
    return _loaded[name]


def carriage(messages: DataFrame) -> DataFrame:
    """Say of every notification whether any node but its source had it."""
    elsewhere = F.col("node") != F.col("origin")
    return (
        messages.where(F.col("type").isin(*NOTIFICATION_TYPES))
        .groupBy("origin", "number")
        .agg(F.max(elsewhere & F.col("kind").isin("received", "stored", "replicated")).alias("carried"))
    )


def fates(
    wanted: DataFrame,
    outcomes: DataFrame,
    notifications: DataFrame,
    messages: DataFrame,
    copies: DataFrame,
    plain: Sequence[int] = (),
) -> DataFrame:
    """Give one row a pair (reading, subscriber) that was wanted or told: its fate, and whether it was wanted.

    A pair that was told and not wanted has the fate of its notification. `copies` is what
    `holding.copies_at_end` gives, `plain` are the languages whose notifications tell of no reading or
    document."""
    readings = (
        notifications.where(~F.col("language").isin(*plain))
        .select("origin", "number", "event", "event_number", F.col("at_ms").alias("told_ms"))
        .join(carriage(messages), ["origin", "number"], "left")
        .join(copies.select("origin", "number", "carried_left", "ran_out"), ["origin", "number"], "left")
    )
    told = (
        outcomes.select("origin", "number", "subscriber", "outcome", "delivered_ms")
        .join(readings, ["origin", "number"])
        .select(
            F.col("origin").alias("node"),
            "event",
            "event_number",
            F.col("told_ms").alias("event_ms"),
            "subscriber",
            _fate_of_told().alias("rank"),
            F.lit(False).alias("wanted"),
        )
    )
    asked_for = wanted.select(
        *READING, "subscriber", _fate_at_source().alias("rank"), F.lit(True).alias("wanted")
    )
    return (
        asked_for.unionByName(told)
        .groupBy(*READING, "subscriber")
        .agg(F.min("rank").alias("rank"), F.max("wanted").alias("wanted"))
        .withColumn("fate", _name_of_rank())
        .drop("rank")
    )


def fate_counts(
    judged: DataFrame,
    revisions: Sequence[SubscriptionRevision],
    outcomes: DataFrame,
    notifications: DataFrame,
    messages: DataFrame,
    copies: DataFrame,
    plain: Sequence[int] = (),
) -> DataFrame:
    """Count the pairs of every fate, wanted and not.

    They are those of `fates`, but a reading that never left its source is not taken apart into pairs: all
    who wanted it have the same fate, and nobody was told.
    """
    stayed = (
        judged.where(F.col("released") == 0)
        .groupBy(_fate_at_source().alias("rank"))
        .agg(F.sum("subscribers").alias("pairs"))
        .select(F.lit(True).alias("wanted"), _name_of_rank(), "pairs")
    )
    left = judged.where(F.col("released") > 0).transform(wanted(revisions))
    met = (
        fates(left, outcomes, notifications, messages, copies, plain)
        .groupBy("wanted", "fate")
        .agg(F.count("*").alias("pairs"))
    )
    return met.unionByName(stayed).groupBy("wanted", "fate").agg(F.sum("pairs").alias("pairs"))


def released_and_wanted(judged: DataFrame) -> DataFrame:
    """Give one row: how many readings that became notifications somebody wanted."""
    return judged.where(F.col("released") > 0).agg(F.count("*").alias("readings"))


def _name_of_rank() -> Column:
    return F.element_at(F.array(*map(F.lit, FATES)), F.col("rank") + 1).alias("fate")


def _rank(fate: str) -> Column:
    return F.lit(FATES.index(fate))


def _fate_of_told() -> Column:
    has_time = F.col("outcome").isin("open", "lost")
    return (
        F.when(F.col("delivered_ms").isNotNull(), _rank("delivered"))
        .when(F.col("outcome") == "withdrawn", _rank("withdrawn"))
        .when(~F.coalesce("carried", F.lit(False)), _rank("never_carried"))
        .when(has_time & F.coalesce("carried_left", F.lit(False)), _rank("under_way"))
        .when(~has_time & F.coalesce("ran_out", F.lit(False)), _rank("too_late"))
        .otherwise(_rank("dropped"))
    )


def _fate_at_source() -> Column:
    return (
        F.when(F.col("held_back"), _rank("held_back"))
        .when(F.col("installed") > 0, _rank("not_asked_for_this"))
        .otherwise(_rank("not_asked"))
    )
