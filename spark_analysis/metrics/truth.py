"""Ground truth: every reading × every subscription in force.

`expected` covers notifications that left a source. This module starts one step earlier: which readings match
a subscription, whether or not a filter released them? A reading is taken with all its values and matched as
on a DENS node (`reading_search`). Every wanted pair (reading, subscriber) has exactly one *fate*, the best of
its notifications and subscriptions:

| fate | meaning |
| --- | --- |
| delivered | the application received it |
| under_way | a carrier has a copy at the end of the run, with time left; not withdrawn |
| withdrawn | the subscription was withdrawn before it arrived, within its lifetime |
| too_late | a carrier had a copy until it expired |
| dropped | every carrier discarded its copy before: dropped, or lost with its store |
| never_carried | it left the filter and no node but its source ever had it, or all refused it |
| held_back | the filter released nothing because of hysteresis or a minimum interval |
| not_asked_for_this | subscriptions were installed at the source, but none released it for this subscriber |
| not_asked | no subscription was installed at the source at that time |

A *carrier* is a node other than the source that had the notification (`carriage`), in whatever frame it came.
A filter never suppresses a match (every language is tested for it), so `not_asked_for_this` means that the
subscription had not reached the source. Subscriptions of languages without ground truth are not covered, nor
are notifications without a reading or document: plain messages and composites. Documents are added by
`documents.py`.

Matches are far more numerous than readings, so they are packed: `judged` has one row per reading with its
matches as bytes, `wanted` one row per match. Counting needs only the first.
"""

import hashlib
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import BinaryType, BooleanType, IntegerType, LongType, StructField, StructType

from spark_analysis.metrics.delivery import had_until_expiry
from spark_analysis.metrics.expected import SubscriptionRevision
from spark_analysis.metrics.radio_use import NOTIFICATION_TYPES
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
"""Best first; a pair has the first one that applies."""

READING: Final = ("node", "event", "event_number", "event_ms")
"""Readings are numbered per event class. A document has no class, nor has a reading of a trace version that
numbered all readings of a source together.
"""


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """Fates of every pair of reading, or document, and subscriber that matches.

    The nine fates add up to `wanted`. `unwanted` counts pairs that were delivered without a match,
    `released_in_vain` readings and documents that left their source without a match. Plain messages and
    composites are excluded.
    """

    delivered: int
    under_way: int
    too_late: int
    dropped: int
    never_carried: int
    held_back: int
    not_asked_for_this: int
    not_asked: int
    unwanted: int
    released_in_vain: int
    withdrawn: int = 0
    wanted: int = field(init=False)
    recall: float | None = field(init=False)
    """delivered / wanted"""
    precision: float | None = field(init=False)
    """delivered / (delivered + unwanted)"""

    def __post_init__(self) -> None:
        """Derive the sums, so that they are always consistent with the counts."""
        released = self.delivered + self.under_way + self.too_late + self.dropped + self.never_carried
        wanted = released + self.withdrawn + self.held_back + self.not_asked_for_this + self.not_asked
        shown = self.delivered + self.unwanted
        object.__setattr__(self, "wanted", wanted)
        object.__setattr__(self, "recall", self.delivered / wanted if wanted else None)
        object.__setattr__(self, "precision", self.delivered / shown if shown else None)


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
"""One row per reading with a match: the number of subscribers, and its matches, packed.

`revisions` are positions in the sequence of revisions, four bytes each, ascending; `degrees` has one byte for
each.
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
"""One row per match of a reading with a subscription revision in force."""

_POSITION: Final = np.dtype("<u4")


def judged(
    revisions: Sequence[SubscriptionRevision], languages: RunLanguages
) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of `filter_decisions` into the matches of each reading (`JUDGED`)."""
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
    """Return the transformation of `JUDGED` rows into one row per match (`WANTED`)."""
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
"""The search that this process used last, by its digest: loading thousands of subscriptions for every task
would take longer than the task.
"""


def _search(name: bytes, revisions: Sequence[SubscriptionRevision], languages: RunLanguages) -> ReadingSearch:
    if name not in _loaded:
        _loaded.clear()
        _loaded[name] = ReadingSearch(revisions, languages)
    return _loaded[name]


def carriage(messages: DataFrame) -> DataFrame:
    """Return whether each notification had a carrier: a node other than its source, or the node that composed
    it. A node that received and refused it is not a carrier.
    """
    elsewhere = (F.col("node") != F.col("origin")) & F.col("kind").isin("stored", "replicated", "delivered")
    return (
        messages.where(F.col("type").isin(*NOTIFICATION_TYPES))
        .groupBy("origin", "number")
        .agg(F.max(elsewhere | (F.col("kind") == "made")).alias("carried"))
    )


def fates(
    wanted: DataFrame,
    outcomes: DataFrame,
    notifications: DataFrame,
    messages: DataFrame,
    copies: DataFrame,
    plain: Sequence[int] = (),
) -> DataFrame:
    """Return one row per pair (reading, subscriber) that matches or was delivered: its fate, and whether it
    matches.

    A pair that does not match has the fate of its notification. `copies` is `Run.copies_at_end`, `plain` are
    the languages whose notifications contain no reading or document.
    """
    readings = (
        notifications.where(~F.col("language").isin(*plain))
        .select(
            "origin",
            "number",
            "event",
            "event_number",
            F.col("at_ms").alias("notified_ms"),
            (F.col("at_ms") + F.col("lifetime_ms")).alias("over_ms"),
        )
        .join(carriage(messages), ["origin", "number"], "left")
        .join(
            copies.select("origin", "number", "carried_left", "ran_out", "carried_until_ms"),
            ["origin", "number"],
            "left",
        )
    )
    notified = (
        outcomes.select("origin", "number", "subscriber", "outcome", "delivered_ms")
        .join(readings, ["origin", "number"])
        .select(
            F.col("origin").alias("node"),
            "event",
            "event_number",
            F.col("notified_ms").alias("event_ms"),
            "subscriber",
            _fate_of_notified().alias("rank"),
            F.lit(False).alias("wanted"),
        )
    )
    matched = wanted.select(
        *READING, "subscriber", _fate_at_source().alias("rank"), F.lit(True).alias("wanted")
    )
    return (
        matched.unionByName(notified)
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
    """Count the pairs of every fate, matching and not.

    Equivalent to counting `fates`, but a reading that never left its source is not expanded into pairs: all
    its subscribers have the same fate.
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
    """Return one row: the number of released readings that match a subscription."""
    return judged.where(F.col("released") > 0).agg(F.count("*").alias("readings"))


def _name_of_rank() -> Column:
    return F.element_at(F.array(*map(F.lit, FATES)), F.col("rank") + 1).alias("fate")


def _rank(fate: str) -> Column:
    return F.lit(FATES.index(fate))


def _fate_of_notified() -> Column:
    has_time = F.col("outcome").isin("open", "lost")
    return (
        F.when(F.col("delivered_ms").isNotNull(), _rank("delivered"))
        .when(F.col("outcome") == "withdrawn", _rank("withdrawn"))
        .when(~F.coalesce("carried", F.lit(False)), _rank("never_carried"))
        .when(has_time & F.coalesce("carried_left", F.lit(False)), _rank("under_way"))
        .when(~has_time & had_until_expiry(F.col("over_ms")), _rank("too_late"))
        .otherwise(_rank("dropped"))
    )


def _fate_at_source() -> Column:
    return (
        F.when(F.col("held_back"), _rank("held_back"))
        .when(F.col("installed") > 0, _rank("not_asked_for_this"))
        .otherwise(_rank("not_asked"))
    )
