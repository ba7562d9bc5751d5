"""Readings × subscription revisions in force, in columns: which match, how well, and for how many people.

A batch of readings comes as Arrow columns and leaves as arrays: no object is made for a reading or for a
match. What is asked is the language's own matcher. A few readings are asked one by one; once the pairs to
judge are more than `TOGETHER_FROM`, whole batches go through the compiled search of `plugins.fuzzy.fast`.

A trace is written in the order of time, so a batch covers a short time. The matcher then holds the
revisions that are in force somewhere in it, and not all that there ever were: between two batches what
began is added and what ended is removed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plugins.fuzzy.fast import FastMatcher
from plugins.kernels.compiled import compiled, is_available
from plugins.language import Matcher
from spark_analysis.errors import TraceError
from spark_analysis.metrics.owed import MakeMatcher, SubscriptionRevision

FUZZY: Final = 1
"""The language whose subscriptions are about readings."""

TOGETHER_FROM: Final = 200_000
"""Pairs in a batch; judging so many one by one takes longer than loading compiled code."""

PAIRS_AT_ONCE: Final = 1 << 24
"""A batch is judged in pieces of so many pairs: if all of them matched, they would take 80 MB."""

PLAIN_AGGREGATORS: Final = 6
"""Those below have no block, so that their vectors of one length form a table."""

NO_EVENT: Final = 255
"""Stands for the event class of a reading without values, which no subscription is about."""

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
Keys = npt.NDArray[np.uint32]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Readings:
    """Readings side by side. `rows` has one byte for every attribute index, 0 where there is no value."""

    event_ms: Integers
    events: Bytes
    features: Integers
    rows: Bytes

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.events)

    def part(self, begin: int, end: int) -> "Readings":
        """Return some of them."""
        chosen = slice(begin, end)
        return Readings(self.event_ms[chosen], self.events[chosen], self.features[chosen], self.rows[chosen])


@dataclass(frozen=True, slots=True)
class Matches:
    """Whom readings concern: the matches of reading i stand at [ends[i - 1], ends[i]).

    `revisions` are positions in the sequence that was searched, in no particular order, and `subscribers`
    says of each reading how many different people they belong to.
    """

    ends: Integers
    revisions: Keys
    degrees: Bytes
    subscribers: Numbers


class ReadingSearch:
    """Finds the revisions that were in force at a reading's time and match it."""

    def __init__(self, revisions: Sequence[SubscriptionRevision], make_matcher: MakeMatcher) -> None:
        self._vectors = [revision.vector for revision in revisions]
        self._begin = np.array([revision.created_ms for revision in revisions], np.int64)
        self._end = np.array([_end_of(revision) for revision in revisions], np.int64)
        people = np.array([revision.subscriber for revision in revisions], np.int32)
        self._person = np.unique(people, return_inverse=True)[1].astype(np.int32)
        self._last = np.full(len(revisions), -1, np.int32)
        self._matcher = make_matcher(FUZZY)
        self._held = np.zeros(len(revisions), bool)
        self.together = False

    def matches(self, batch: pa.RecordBatch) -> Iterator[tuple[int, Matches]]:
        """Yield (position of its first reading, matches) for each piece of a batch, in order.

        The batch has the columns `event_ms`, `event`, `attributes` and `values`.
        """
        readings = read_columns(batch)
        if not len(readings):
            return
        in_force = (self._begin <= readings.event_ms.max()) & (self._end > readings.event_ms.min())
        held = int(in_force.sum())
        if not self.together and held * len(readings) >= TOGETHER_FROM:
            self._turn_to_columns(readings.rows.shape[1] // 8)
        self._hold(in_force)
        step = max(1, PAIRS_AT_ONCE // max(held, 1))
        for begin in range(0, len(readings), step):
            yield begin, self._found(readings.part(begin, begin + step))

    def _turn_to_columns(self, feature_bytes: int) -> None:
        """Go over to the compiled search, where the language's matcher has one and there is a compiler."""
        if isinstance(self._matcher, FastMatcher) and is_available():
            self._matcher = FastMatcher(None, feature_bytes=feature_bytes, columns_from=0)
            self._held[:] = False
            self.together = True

    def _hold(self, in_force: npt.NDArray[np.bool_]) -> None:
        """Make the matcher hold these revisions and no others."""
        for position in np.flatnonzero(self._held & ~in_force).tolist():
            self._matcher.remove(_key(position))
        self._add(np.flatnonzero(in_force & ~self._held))
        self._held = in_force

    def _add(self, positions: Integers) -> None:
        tables: dict[int, list[int]] = {}
        for position in positions.tolist():
            vector = self._vectors[position]
            if self.together and vector[5] & 15 < PLAIN_AGGREGATORS:
                tables.setdefault(len(vector), []).append(position)
            else:
                self._matcher.add(_key(position), vector)
        for length, chosen in tables.items():
            table = np.frombuffer(b"".join(self._vectors[at] for at in chosen), np.uint8).reshape(-1, length)
            assert isinstance(self._matcher, FastMatcher)
            self._matcher.add_all(np.array(chosen, np.uint32), table)

    def _found(self, readings: Readings) -> Matches:
        if self.together:
            assert isinstance(self._matcher, FastMatcher)
            search = self._matcher.search.many
            ends, (revisions, degrees) = search(readings.rows, readings.events, readings.features)
            keep: Any = compiled(keep_in_force)
        else:
            ends, revisions, degrees = _found_singly(self._matcher, readings)
            keep = keep_in_force
        subscribers = np.zeros(len(readings), np.int32)
        self._last[:] = -1
        times = (readings.event_ms, self._begin, self._end)
        kept = keep(ends, revisions, degrees, *times, self._person, self._last, subscribers)
        return Matches(ends, revisions[:kept].copy(), degrees[:kept].copy(), subscribers)


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
    """Keep, in place, the matches with revisions in force at the reading's time; return how many are left.

    `subscribers` receives the number of different people of each reading; `last` is working room of -1.
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


def read_columns(batch: pa.RecordBatch) -> Readings:
    """Take the readings of a batch apart; raise `TraceError` when masks and values do not agree."""
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
    return Readings(batch["event_ms"].to_numpy(), events, features, rows)


def bytes_of(column: Any) -> tuple[Integers, Bytes]:
    """Return where the values of a binary column end, with a 0 in front, and all of them in a row."""
    column = column.cast(pa.binary())
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    if not len(column) or data is None:
        return np.zeros(len(column) + 1, np.int64), np.zeros(0, np.uint8)
    return (ends - ends[0]).astype(np.int64), np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]


def told_in_full(row: Bytes, event: int, feature: int) -> bytes | None:
    """Return the notification vector (SPEC §3) that tells all of a reading; None when it has no value."""
    if not feature:
        return None
    width = len(row) // 8
    values = bytes(int(byte) for index, byte in enumerate(row) if feature >> index & 1)
    return bytes(6) + values + (1 << event).to_bytes(width, "big") + feature.to_bytes(width, "big")


def _found_singly(matcher: Matcher, readings: Readings) -> tuple[Integers, Keys, Bytes]:
    """Ask one reading after the other; return (ends, revisions, degrees) of every match."""
    ends = np.zeros(len(readings), np.int64)
    found: list[tuple[int, int]] = []
    for reading in range(len(readings)):
        event, feature = int(readings.events[reading]), int(readings.features[reading])
        vector = told_in_full(readings.rows[reading], event, feature)
        if vector is not None:
            for match in matcher.match(vector, 0, 0):
                found.append((match.key[0] << 8 | match.key[1], match.degree_u8))
        ends[reading] = len(found)
    table = np.array(found, np.int64).reshape(-1, 2)
    return ends, table[:, 0].astype(np.uint32), table[:, 1].astype(np.uint8)


def _key(position: int) -> tuple[int, int]:
    return position >> 8, position & 255


def _end_of(revision: SubscriptionRevision) -> int:
    if revision.withdrawn_ms is None:
        return revision.expires_ms
    return min(revision.expires_ms, revision.withdrawn_ms)
