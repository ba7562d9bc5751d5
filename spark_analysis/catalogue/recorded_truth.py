"""Wanted and delivered pairs without Spark, as defined in `metrics/truth.py`; sweeps need these two numbers
only.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dens.trace.recorded_run import RecordedRun
from dens.trace.schema import NUMBERED_BY_CLASS
from spark_analysis.catalogue.evidence import WantedPairs
from spark_analysis.languages import languages_of
from spark_analysis.metrics.documents import document_matches
from spark_analysis.metrics.expected import SubscriptionRevision, load_revisions
from spark_analysis.metrics.reading_search import Matches, ReadingSearch

Reading = tuple[int, int | None, int, int]
"""(node, event class, number, event time); a document has no class."""


def wanted_pairs(run: RecordedRun, revisions: Sequence[SubscriptionRevision]) -> WantedPairs:
    """Count the pairs of reading or document and subscriber that match, and those that were delivered."""
    delivered = _delivered(run)
    wanted = received = 0
    for rows, begin, matches in _judged(run, revisions):
        wanted += int(matches.subscribers.sum())
        starts = np.concatenate([[0], matches.ends[:-1]])
        for position in np.flatnonzero(matches.subscribers).tolist():
            people = delivered.get(rows[begin + position])
            if people:
                found = matches.revisions[starts[position] : matches.ends[position]].tolist()
                received += len(people & {revisions[revision].subscriber for revision in found})
    return WantedPairs(wanted, received)


def _judged(
    run: RecordedRun, revisions: Sequence[SubscriptionRevision]
) -> Iterator[tuple[list[Reading], int, Matches]]:
    """Yield the readings and documents of a batch, the position of the first, and the matches."""
    if not revisions:
        return
    languages = languages_of(run.manifest)
    by_class = run.manifest.schema_version >= NUMBERED_BY_CLASS
    search = ReadingSearch(revisions, languages)
    readings = run.table(
        "filter_decisions", ["at_ms", "node", "event_number", "event", "attributes", "values", "exact"]
    ).rename_columns(["event_ms", "node", "event_number", "event", "attributes", "values", "exact"])
    for batch in readings.to_batches():
        rows = _named(batch, batch["event"].to_pylist() if by_class else [None] * batch.num_rows)
        for begin, matches in search.matches(batch):
            yield rows, begin, matches
    documents = run.table("documents", ["at_ms", "node", "event_number", "language", "vector"])
    if documents.num_rows:
        listeners = load_revisions(revisions, languages)
        for batch in documents.rename_columns(
            ["event_ms", "node", "event_number", "language", "vector"]
        ).to_batches():
            rows = _named(batch, [None] * batch.num_rows)
            yield rows, 0, document_matches(batch, revisions, listeners)


def _named(batch: pa.RecordBatch, events: list[int | None]) -> list[Reading]:
    nodes, numbers, times = (batch[name].to_pylist() for name in ("node", "event_number", "event_ms"))
    rows: zip[Any] = zip(nodes, events, numbers, times, strict=True)
    return list(rows)


def _delivered(run: RecordedRun) -> dict[Reading, set[int]]:
    """Return the subscribers that received a notification of each reading and document."""
    languages = languages_of(run.manifest)
    others = [*languages.plain, *languages.composed]
    notifications = run.table(
        "notifications", ["origin", "number", "event", "event_number", "at_ms", "language"]
    ).filter(~pc.field("language").isin(others))
    readings: dict[tuple[int, int], Reading] = {
        (row["origin"], row["number"]): (row["origin"], row["event"], row["event_number"], row["at_ms"])
        for row in notifications.to_pylist()
    }
    steps = run.table("messages", ["kind", "origin", "number", "node"]).filter(
        pc.field("kind") == "delivered"
    )
    found: dict[Reading, set[int]] = {}
    for row in steps.to_pylist():
        reading = readings.get((row["origin"], row["number"]))
        if reading is not None:
            found.setdefault(reading, set()).add(row["node"])
    return found
