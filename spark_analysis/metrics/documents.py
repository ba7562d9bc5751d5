"""Which documents should have been told: every document that a source offered × every subscription in force.

A document is a notification as it is, so nothing has to be told in full before it can be judged: the matchers
that listen to its language are given it at age 0. What comes out has the form of readings that were judged
(`truth.JUDGED`), and goes the same road to its fate: a document that nobody released and somebody wanted was
not asked for at its source, or not by this subscriber.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.metrics.owed import Listeners, SubscriptionRevision, load_matchers
from spark_analysis.metrics.reading_search import Matches
from spark_analysis.metrics.run_languages import RunLanguages
from spark_analysis.metrics.truth import JUDGED, packed


def documents_judged(
    revisions: Sequence[SubscriptionRevision], languages: RunLanguages
) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of `documents` into who wanted each of them (`JUDGED`)."""

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        listeners = load_matchers(revisions, languages)
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


def released_documents(documents: DataFrame) -> DataFrame:
    """Give one row: how many documents became notifications."""
    return documents.where(F.col("released") > 0).agg(F.count("*").alias("documents"))


def frames_of_documents(documents: DataFrame, messages: DataFrame, frame_bytes: int) -> DataFrame:
    """Give one row: how many frames of so many bytes a document takes on the air, envelope included."""
    languages = documents.select("language").distinct()
    sent = messages.where((F.col("kind") == "sent") & (F.col("type") == "notification"))
    told = (
        sent.join(languages, "language", "left_semi")
        .groupBy("origin", "number")
        .agg(F.max("bytes").alias("bytes"))
    )
    return told.agg(F.avg(F.ceil(F.col("bytes") / frame_bytes)).alias("frames"))


def document_matches(
    batch: pa.RecordBatch, revisions: Sequence[SubscriptionRevision], listeners: Listeners
) -> Matches:
    """Return whom the documents of a batch concern; it has the columns `language`, `vector` and
    `event_ms`.
    """
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
