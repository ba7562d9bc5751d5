"""What should have been told: every reading that a watchdog judged × every subscription in force.

`owed` asks what became of the notifications that left a source. This asks one step earlier: which readings
did somebody want, whether or not a filter ever let them out? A reading is told in full, with all its
values, and given to the matcher that a DENS node uses; from `COMPILE_FROM` subscriptions on to its compiled
form, a whole batch of readings at once. Of every wanted pair (reading, subscriber) exactly one *fate* is
true, the best that any of its notifications and subscriptions had:

| fate | meaning |
| --- | --- |
| delivered | the application saw it |
| under_way | carried by somebody at the end of the run, with time left |
| too_late | carried, and its lifetime ran out |
| dropped | undelivered, and some copy was dropped or refused by policy |
| never_carried | it left the filter, and nobody but its source ever had it |
| held_back | the filter released nothing because of hysteresis or a minimum interval |
| not_asked_for_this | subscriptions were installed at the source, and none released it for this subscriber |
| not_asked | no subscription was installed at the source at that moment |

A filter never passes too little (every language is tested for it), so `not_asked_for_this` means that the
subscription had not come there yet. Readings of other languages than the fuzzy one do not exist.
"""

import hashlib
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import BooleanType, IntegerType, LongType, StructField, StructType

from plugins.fuzzy.fast import COMPILE_FROM, FastMatcher
from plugins.kernels.compiled import is_available
from plugins.language import Matcher
from spark_analysis.metrics.overhead import NOTIFICATION_TYPES
from spark_analysis.metrics.owed import MakeMatcher, SubscriptionRevision

FUZZY: Final = 1
"""The language whose subscriptions are about readings."""

FATES: Final = (
    "delivered",
    "under_way",
    "too_late",
    "dropped",
    "never_carried",
    "held_back",
    "not_asked_for_this",
    "not_asked",
)
"""Best first; a pair has the first one that is true of it."""

READING: Final = ("node", "event_number", "event_ms")

_int, _long = IntegerType(), LongType()

WANTED = StructType(
    [
        StructField("node", _int, False),
        StructField("event_number", _int, False),
        StructField("event_ms", _long, False),
        StructField("installed", _int, False),
        StructField("released", _int, False),
        StructField("held_back", BooleanType(), False),
        StructField("subscriber", _int, False),
        StructField("id", _int, False),
        StructField("seq", _int, False),
        StructField("degree_u8", _int, False),
    ]
)
"""One row for each (reading, subscription revision in force) that match."""

Integers = npt.NDArray[np.int64]


def wanted(
    revisions: Sequence[SubscriptionRevision], make_matcher: MakeMatcher
) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of `filter_decisions` into what somebody wanted (`WANTED`)."""
    about_readings = [revision for revision in revisions if revision.language == FUZZY]
    name = hashlib.sha256(pickle.dumps((about_readings, make_matcher))).digest()

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        search = _search(name, about_readings, make_matcher) if about_readings else None
        for batch in batches:
            if search is not None:
                yield search.wanted_in(batch)

    def transform(filter_decisions: DataFrame) -> DataFrame:
        readings = filter_decisions.select(
            "node",
            "event_number",
            F.col("at_ms").alias("event_ms"),
            "installed",
            "released",
            F.col("suppressed").isNotNull().alias("held_back"),
            "event",
            "attributes",
            "values",
        )
        return readings.mapInArrow(judge, WANTED)

    return transform


class ReadingSearch:
    """Every revision in one matcher, and the times in which each is in force as columns."""

    def __init__(self, revisions: Sequence[SubscriptionRevision], make_matcher: MakeMatcher) -> None:
        self._matcher = make_matcher(FUZZY)
        for position, revision in enumerate(revisions):
            self._matcher.add((position >> 8, position & 255), revision.vector)
        self._facts = {
            name: np.array([getattr(revision, name) for revision in revisions], np.int32)
            for name in ("subscriber", "id", "seq")
        }
        self._begin = np.array([revision.created_ms for revision in revisions], np.int64)
        self._end = np.array(
            [
                min(r.expires_ms, r.expires_ms if r.withdrawn_ms is None else r.withdrawn_ms)
                for r in revisions
            ],
            np.int64,
        )
        self._many = isinstance(self._matcher, FastMatcher) and len(revisions) >= COMPILE_FROM
        self._many = self._many and is_available()

    def wanted_in(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of `WANTED` for these readings, in their order."""
        find = _found_together if self._many else _found_singly
        readings, positions, degrees = find(self._matcher, batch)
        event_ms = batch["event_ms"].to_numpy()[readings]
        lives = (self._begin[positions] <= event_ms) & (event_ms < self._end[positions])
        readings, positions, degrees = readings[lives], positions[lives], degrees[lives]
        chosen = batch.select(WANTED.names[:6]).take(readings)
        facts = [pa.array(self._facts[name][positions]) for name in ("subscriber", "id", "seq")]
        columns = [*chosen.columns, *facts, pa.array(degrees.astype(np.int32))]
        return pa.RecordBatch.from_arrays(columns, names=WANTED.names)


_loaded: dict[bytes, ReadingSearch] = {}
"""The search that this process used last, by what it holds: loading thousands of subscriptions for every
task of a query would take longer than the task.
"""


def _search(
    name: bytes, revisions: Sequence[SubscriptionRevision], make_matcher: MakeMatcher
) -> ReadingSearch:
    if name not in _loaded:
        _loaded.clear()
        _loaded[name] = ReadingSearch(revisions, make_matcher)
    return _loaded[name]


def _found_singly(matcher: Matcher, batch: pa.RecordBatch) -> tuple[Integers, Integers, Integers]:
    """Ask one reading after the other: (reading, revision, degree) of every match."""
    found: list[tuple[int, int, int]] = []
    for reading, row in enumerate(batch.select(["event", "attributes", "values"]).to_pylist()):
        vector = told_in_full(row["event"], row["attributes"], row["values"])
        if vector is not None:
            for match in matcher.match(vector, 0, 0):
                found.append((reading, match.key[0] << 8 | match.key[1], match.degree_u8))
    table = np.array(found, np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def told_in_full(event: int, attributes: bytes, values: bytes) -> bytes | None:
    """Return the notification vector (SPEC §3) that tells all of a reading; None when it has no value."""
    if not values:
        return None
    return bytes(6) + values + (1 << event).to_bytes(len(attributes), "big") + attributes


def _found_together(matcher: Any, batch: pa.RecordBatch) -> tuple[Integers, Integers, Integers]:
    """Ask for all readings at once: (reading, revision, degree) of every match."""
    masks: list[Any] = batch["attributes"].to_pylist()
    values: list[Any] = batch["values"].to_pylist()
    width = len(masks[0]) if masks else 1
    present = np.unpackbits(np.frombuffer(b"".join(masks), np.uint8).reshape(-1, width)[:, ::-1], axis=1)
    present = present.reshape(-1, width, 8)[:, :, ::-1].reshape(-1, 8 * width).astype(bool)
    rows = np.zeros(present.shape, np.uint8)
    rows[present] = np.frombuffer(b"".join(values), np.uint8)
    features = np.array([int.from_bytes(mask, "big") for mask in masks], np.int64)
    ends, (keys, degrees) = matcher.search.many(rows, batch["event"].to_numpy().astype(np.uint8), features)
    readings = np.repeat(np.arange(len(masks)), np.diff(ends, prepend=0))
    return readings, keys.astype(np.int64), degrees.astype(np.int64)


def carriage(messages: DataFrame) -> DataFrame:
    """Say of every notification whether somebody but its source had it, and whether a copy was given up."""
    elsewhere = F.col("node") != F.col("origin")
    return (
        messages.where(F.col("type").isin(*NOTIFICATION_TYPES))
        .groupBy("origin", "number")
        .agg(
            F.max(elsewhere & F.col("kind").isin("received", "stored", "replicated")).alias("carried"),
            F.max(F.col("kind").isin("dropped", "refused")).alias("given_up"),
        )
    )


def fates(wanted: DataFrame, outcomes: DataFrame, notifications: DataFrame, messages: DataFrame) -> DataFrame:
    """Give one row a pair (reading, subscriber) that was wanted or told: its fate, and whether it was wanted.

    A pair that was told and not wanted has the fate of its notification.
    """
    readings = notifications.select(
        "origin", "number", F.col("event_number"), F.col("at_ms").alias("told_ms")
    )
    told = (
        outcomes.select("origin", "number", "subscriber", "outcome", "delivered_ms")
        .join(readings, ["origin", "number"])
        .join(carriage(messages), ["origin", "number"], "left")
        .select(
            F.col("origin").alias("node"),
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
        .withColumn("fate", F.element_at(F.array(*map(F.lit, FATES)), F.col("rank") + 1))
        .drop("rank")
    )


def fate_counts(fates: DataFrame) -> DataFrame:
    """Count the pairs of every fate, wanted and not."""
    return fates.groupBy("wanted", "fate").agg(F.count("*").alias("pairs"))


def released_and_wanted(wanted: DataFrame) -> DataFrame:
    """Give one row: how many readings that became notifications somebody wanted."""
    useful = wanted.where(F.col("released") > 0).select(*READING).distinct()
    return useful.agg(F.count("*").alias("readings"))


def _rank(fate: str) -> Column:
    return F.lit(FATES.index(fate))


def _fate_of_told() -> Column:
    return (
        F.when(F.col("delivered_ms").isNotNull(), _rank("delivered"))
        .when(~F.coalesce("carried", F.lit(False)), _rank("never_carried"))
        .when(F.coalesce("given_up", F.lit(False)), _rank("dropped"))
        .when(F.col("outcome") == "missed", _rank("too_late"))
        .otherwise(_rank("under_way"))
    )


def _fate_at_source() -> Column:
    return (
        F.when(F.col("held_back"), _rank("held_back"))
        .when(F.col("installed") > 0, _rank("not_asked_for_this"))
        .otherwise(_rank("not_asked"))
    )
