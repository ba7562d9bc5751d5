"""Matches of documents: every document that a source offered × every subscription in force.

A document is a notification as it is, so the matchers for its language are given it at age 0. The result has
the form of matched readings (`truth.JUDGED`) and leads to the same fates: a document that matched but was not
released had no matching subscription at its source.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.metrics.expected import RevisionMatchers, SubscriptionRevision, load_revisions
from spark_analysis.metrics.reading_search import Matches
from spark_analysis.metrics.run_languages import RunLanguages
from spark_analysis.metrics.truth import JUDGED, packed


def matched_documents(
    revisions: Sequence[SubscriptionRevision], languages: RunLanguages
) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of `documents` into their matches (`JUDGED`)."""

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        listeners = load_revisions(revisions, languages)
        for batch in batches:
            yield packed(batch, 0, document_matches(batch, revisions, listeners))

    def transform(documents: DataFrame) -> DataFrame:
        offered = documents.select(
            "node",
            F.lit(None).cast("int").alias("event"),
            "event_number",
            F.col("at_ms").alias("event_ms"),
            "installed",
            "released",
            F.lit(False).alias("held_back"),
            "language",
            "vector",
        )
        return offered.mapInArrow(judge, JUDGED)

    return transform


def document_matches(
    batch: pa.RecordBatch, revisions: Sequence[SubscriptionRevision], listeners: RevisionMatchers
) -> Matches:
    """Return the matches of a batch with the columns `language`, `vector` and `event_ms`."""
    ends, positions, degrees, subscribers = [], [], [], []
    columns = (batch[name].to_pylist() for name in ("language", "vector", "event_ms"))
    for language, vector, event_ms in zip(*columns, strict=True):
        found = {
            position: match.degree_u8
            for position, match in listeners.match(language, vector, event_ms)
            if revisions[position].in_force(event_ms)
        }
        positions += sorted(found)
        degrees += [found[position] for position in sorted(found)]
        ends.append(len(positions))
        subscribers.append(len({revisions[position].subscriber for position in found}))
    return Matches(
        np.array(ends, np.int64),
        np.array(positions, np.uint32),
        np.array(degrees, np.uint8),
        np.array(subscribers, np.int32),
    )
