"""Past values of one attribute from the traces of runs: counted for terms, ordered for transitions.

The source is the readings that watchdogs filtered (`filter_decisions`); each is a byte on the attribute's
normalised domain. Counting is one pass and yields 256 numbers.
The values that subscriptions request are counted in the same way.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.readings import decode_exact
from plugins.registry import languages
from spark_analysis.errors import LearningError
from spark_analysis.languages import mission_table
from spark_analysis.metrics.reading_search import read_columns
from spark_analysis.run import Run
from watchdog.header import body_of

VALUES = StructType(
    [
        StructField("node", IntegerType(), False),
        StructField("event_ms", LongType(), False),
        StructField("event_number", IntegerType(), False),
        StructField("byte", IntegerType(), False),
    ]
)
"""One row per reading with a value of the attribute."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The attribute to learn about, its event class, and its vocabulary file."""

    event: EventClass
    attribute: Attribute
    vocabulary: str
    text: str


def subject_of(runs: Sequence[Run], event: str, attribute: str) -> Subject:
    """Find the attribute in the runs' own vocabularies.

    Raises `UnknownName` if it is unknown, and `LearningError` if the runs define it differently or do not
    contain their vocabularies.
    """
    found: Subject | None = None
    for run in runs:
        table = mission_table(run.manifest)
        of_event = table.event(event)
        here = of_event.attribute(attribute)
        if found is None:
            found = Subject(of_event, here, *_vocabulary(run, table, of_event))
        elif _scale(found.attribute) != _scale(here) or found.event.index != of_event.index:
            raise LearningError(
                f"{runs[0].path} and {run.path}: {event}.{attribute} has different domains or indexes; "
                "learn from each run separately"
            )
    if found is None:
        raise LearningError("no runs to learn from")
    return found


def _vocabulary(run: Run, table: MissionTable, event: EventClass) -> tuple[str, str]:
    """Return name and text of the vocabulary of this event class, from the run."""
    for (name, text), vocabulary in zip(run.manifest.vocabularies.items(), table.vocabularies, strict=False):
        if event in vocabulary.events:
            return name, text
    raise LearningError(f"{run.path}: does not contain its vocabularies; run the scenario again")


def _scale(attribute: Attribute) -> tuple[object, ...]:
    scale = (attribute.lo_scaled, attribute.hi_scaled, attribute.decimals, attribute.unit)
    return (attribute.index, attribute.type, *scale, attribute.breakpoints, attribute.values)


def values_of(
    event: int, attribute: int, domain: tuple[int, int] | None = None
) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of `filter_decisions` into the values of one attribute (`VALUES`). Values
    that span the whole domain are skipped.
    """

    def pick(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            readings = read_columns(batch)
            has = (readings.events == event) & (readings.features >> attribute & 1 == 1)
            has &= ~_unknown(readings.exact, attribute, domain)
            chosen = np.flatnonzero(has)
            known = batch.select(["node", "event_ms", "event_number"]).take(chosen)
            values = pa.array(readings.rows[chosen, attribute].astype(np.int32))
            yield pa.RecordBatch.from_arrays([*known.columns, values], names=VALUES.names)

    def transform(filter_decisions: DataFrame) -> DataFrame:
        known = ("event_number", "event", "attributes", "values", "exact")
        columns = ("node", F.col("at_ms").alias("event_ms"), *known)
        return filter_decisions.select(*columns).mapInArrow(pick, VALUES)

    return transform


def _unknown(
    exact: Sequence[bytes | None], attribute: int, domain: tuple[int, int] | None
) -> npt.NDArray[np.bool_]:
    """Return which readings have a value that spans the whole domain."""
    whole = None if domain is None else (domain[0], domain[0], domain[1], domain[1])
    return np.array(
        [
            one is not None and whole is not None and decode_exact(one).get(attribute) == whole
            for one in exact
        ],
        bool,
    )


def past_values(runs: Sequence[Run], subject: Subject) -> DataFrame:
    """Return the values of all runs, with a column `run`."""
    attribute = subject.attribute
    domain = None if attribute.type == "nominal" else (attribute.lo_scaled, attribute.hi_scaled)
    pick = values_of(subject.event.index, attribute.index, domain)
    frames = [
        run.table("filter_decisions").transform(pick).withColumn("run", F.lit(str(run.path))) for run in runs
    ]
    return reduce(DataFrame.unionByName, frames)


def counts_of(values: DataFrame) -> npt.NDArray[np.int64]:
    """Return how often each of the 256 bytes occurs."""
    counts = np.zeros(256, np.int64)
    for row in values.groupBy("byte").agg(F.count("*").alias("values")).collect():
        counts[row["byte"]] = row["values"]
    return counts


def subscription_counts(runs: Sequence[Run], subject: Subject) -> npt.NDArray[np.int64]:
    """Count how often each of the 256 bytes is the middle of a subscription's constraint on the attribute.

    A revised subscription counts once, by its first revision.
    """
    counts = np.zeros(256, np.int64)
    about = subject.event.index, subject.attribute.index
    for run in runs:
        table = mission_table(run.manifest)
        first = {(revision.subscriber, revision.id): revision for revision in reversed(run.revisions())}
        for revision in first.values():
            language = languages().get(revision.language)
            if language is not None and language.requested_values is not None:
                for event, attribute, byte in language.requested_values(table, body_of(revision.vector)):
                    counts[byte] += (event, attribute) == about
    return counts
