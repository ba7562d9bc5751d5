"""Columnar matching of readings against subscription revisions in force.

Readings come as Arrow columns and matches leave as arrays, without an object per reading or match. Matching
uses each language's ground truth (`plugins.ground_truth`).

A trace is ordered by time, so a batch covers a short time. Only the revisions in force during the batch are
loaded; between two batches revisions are added and removed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plugins.ground_truth import Bytes, GroundTruth, Integers, Judged, Keys, ReadingColumns
from plugins.kernels.compiled import compiled, is_available
from spark_analysis.errors import TraceError
from spark_analysis.metrics.expected import SubscriptionRevision
from spark_analysis.metrics.run_languages import RunLanguages
from watchdog.header import body_of

COMPILED_FROM: Final = 200_000
"""Matches from which loading the compiled code pays off."""

PAIRS_AT_ONCE: Final = 1 << 24
"""Maximum pairs per step: if all matched they would take 80 MB."""

NO_EVENT: Final = 255
"""The event class of a reading without values, which matches no subscription."""

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Matches:
    """Matches of readings: those of reading i are at [ends[i - 1], ends[i]).

    `revisions` are positions in the searched sequence, unordered; `subscribers` is the number of distinct
    subscribers per reading.
    """

    ends: Integers
    revisions: Keys
    degrees: Bytes
    subscribers: Numbers


class ReadingSearch:
    """Finds the revisions that were in force at a reading's time and match it."""

    def __init__(self, revisions: Sequence[SubscriptionRevision], languages: RunLanguages) -> None:
        self._languages = [revision.language for revision in revisions]
        self._bodies = [body_of(revision.vector) for revision in revisions]
        self._begin = np.array([revision.created_ms for revision in revisions], np.int64)
        self._end = np.array([_end_of(revision) for revision in revisions], np.int64)
        people = np.array([revision.subscriber for revision in revisions], np.int32)
        self._person = np.unique(people, return_inverse=True)[1].astype(np.int32)
        self._last = np.full(len(revisions), -1, np.int32)
        self._truths: dict[int, GroundTruth] = {}
        for language in dict.fromkeys(self._languages):
            truth = languages.ground_truth(language)
            if truth is not None:
                self._truths[language] = truth
        self._is_about_readings = np.array([one in self._truths for one in self._languages], bool)
        self._held = np.zeros(len(revisions), bool)

    def matches(self, batch: pa.RecordBatch) -> Iterator[tuple[int, Matches]]:
        """Yield (position of the first reading, matches) for each part of a batch, in order.

        The batch has the columns `event_ms`, `event`, `attributes` and `values`.
        """
        readings = read_columns(batch)
        if not len(readings) or not self._truths:
            return
        in_force = (
            self._is_about_readings
            & (self._begin <= readings.event_ms.max())
            & (self._end > readings.event_ms.min())
        )
        self._hold(in_force)
        step = max(1, PAIRS_AT_ONCE // max(int(in_force.sum()), 1))
        for begin in range(0, len(readings), step):
            yield begin, self._found(readings.part(begin, begin + step))

    def _hold(self, in_force: npt.NDArray[np.bool_]) -> None:
        """Load exactly these revisions into the ground truths of their languages."""
        for position in np.flatnonzero(self._held & ~in_force).tolist():
            self._truths[self._languages[position]].remove(position)
        for position in np.flatnonzero(in_force & ~self._held).tolist():
            self._truths[self._languages[position]].add(position, self._bodies[position])
        self._held = in_force

    def _found(self, readings: ReadingColumns) -> Matches:
        judged = [truth.judge(readings) for truth in self._truths.values()]
        ends, revisions, degrees = judged[0] if len(judged) == 1 else _side_by_side(judged, len(readings))
        is_long = len(revisions) >= COMPILED_FROM and is_available()
        keep: Any = compiled(keep_in_force) if is_long else keep_in_force
        subscribers = np.zeros(len(readings), np.int32)
        self._last[:] = -1
        times = (readings.event_ms, self._begin, self._end)
        kept = keep(ends, revisions, degrees, *times, self._person, self._last, subscribers)
        return Matches(ends, revisions[:kept].copy(), degrees[:kept].copy(), subscribers)


def _side_by_side(judged: Sequence[Judged], count: int) -> Judged:
    """Merge the matches of several languages by reading."""
    reading = [np.repeat(np.arange(count), np.diff(ends, prepend=0)) for ends, _, _ in judged]
    order = np.argsort(np.concatenate(reading), kind="stable")
    ends = np.sum([ends for ends, _, _ in judged], axis=0).astype(np.int64)
    revisions = np.concatenate([keys for _, keys, _ in judged])[order]
    return ends, revisions, np.concatenate([degrees for _, _, degrees in judged])[order]


def keep_in_force(
    ends: Integers,
    revisions: Keys,
    degrees: Bytes,
    event_ms: Integers,
    begin_ms: Integers,
    end_ms: Integers,
    person: Numbers,
    last: Numbers,
    subscribers: Numbers,
) -> int:
    """Keep, in place, the matches with revisions in force at the reading's time; return their number.

    `subscribers` receives the number of distinct subscribers per reading; `last` is a scratch array of -1.
    """
    kept, start = 0, 0
    for reading in range(len(ends)):
        at, different = event_ms[reading], 0
        for match in range(start, ends[reading]):
            revision = revisions[match]
            if begin_ms[revision] <= at and at < end_ms[revision]:
                revisions[kept] = revision
                degrees[kept] = degrees[match]
                kept += 1
                if last[person[revision]] != reading:
                    last[person[revision]] = reading
                    different += 1
        start = ends[reading]
        ends[reading] = kept
        subscribers[reading] = different
    return kept


def read_columns(batch: pa.RecordBatch) -> ReadingColumns:
    """Decode the readings of a batch; inconsistent masks and values raise `TraceError`."""
    count = batch.num_rows
    mask_ends, masks = bytes_of(batch["attributes"])
    value_ends, values = bytes_of(batch["values"])
    width = len(masks) // count if count else 1
    if (mask_ends != width * np.arange(count + 1)).any():
        raise TraceError(
            "readings of one run have attribute masks of different lengths; the trace is damaged"
        )
    bits = np.unpackbits(masks.reshape(count, width)[:, ::-1], axis=1, bitorder="little").astype(bool)
    if (bits.sum(axis=1) != np.diff(value_ends)).any():
        raise TraceError("a reading has more or fewer values than attributes; the trace is damaged")
    rows = np.zeros(bits.shape, np.uint8)
    rows[bits] = values
    wide = np.zeros((count, 8), np.uint8)
    wide[:, 8 - width :] = masks.reshape(count, width)
    features = wide.view(">i8").reshape(count).astype(np.int64)
    events = np.where(features == 0, NO_EVENT, batch["event"].to_numpy()).astype(np.uint8)
    exact = batch["exact"].to_pylist() if "exact" in batch.schema.names else [None] * count
    return ReadingColumns(batch["event_ms"].to_numpy(), events, features, rows, exact)


def bytes_of(column: Any) -> tuple[Integers, Bytes]:
    """Return the end offsets of a binary column, with a leading 0, and its concatenated bytes."""
    column = column.cast(pa.binary())
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    if not len(column) or data is None:
        return np.zeros(len(column) + 1, np.int64), np.zeros(0, np.uint8)
    return (ends - ends[0]).astype(np.int64), np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]


def _end_of(revision: SubscriptionRevision) -> int:
    if revision.withdrawn_ms is None:
        return revision.expires_ms
    return min(revision.expires_ms, revision.withdrawn_ms)
