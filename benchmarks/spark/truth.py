"""Ground truth: a million readings × 10,000 subscriptions through Spark, beside the goal and one process.

The readings come from a Parquet file, as a trace has them; what is measured is the query that finds every
match and brings all of them, packed, back into Spark. Rates are per second of two processors' time, of all
processes together: that is what two cores give that have nothing else to do. The other aggregators are
measured on fewer readings and stated beside min.
"""

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.measurement import Measurement, at_least, beside, processor_seconds
from benchmarks.sizes import sized
from plugins.boxes.language import BOXES_ID
from plugins.boxes.vectors import BoxesBody, encode_body
from plugins.fuzzy.patterns import pattern_bytes, short_form
from spark_analysis.metrics.expected import SubscriptionRevision
from spark_analysis.metrics.reading_search import ReadingSearch
from spark_analysis.metrics.run_languages import RunLanguages
from spark_analysis.metrics.truth import judged
from spark_analysis.session.session import close_session, open_session
from watchdog.aggregators import AGGREGATOR_NAMES, MIN, WEIGHTED_MEAN, WITH_PATTERN, WITH_RULES

SUBSCRIPTIONS = sized(10_000, 50)
READINGS = sized(1_000_000, 2_000)
FEWER = sized(20_000, 500)
PROCESSORS = 2
GOAL_PER_S = 100_000.0
BATCH = sized(10_000, 200)
ATTRIBUTES = (0, 1, 3, 4)


def measure() -> Iterator[Measurement]:
    """Count matches through Spark and in one process; both must find the same number."""
    from knowledge_manager.mission_table import load_mission_table

    make = RunLanguages(load_mission_table(["medical"]))
    revisions = _revisions(0)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "readings.parquet"
        pq.write_table(_readings(), file, row_group_size=100_000)
        spark = open_session()
        try:
            readings = spark.read.parquet(str(file))
            few = readings.where(F.col("at_ms") < FEWER).repartition(2).cache()
            few.count()
            found_alone, alone_s = _alone(revisions, make, FEWER)
            found_few, few_s = _through_spark(few, few, revisions, make)
            if found_few != found_alone:
                raise AssertionError(f"Spark found {found_few} matches, one process {found_alone}")
            _, all_s = _through_spark(readings, few, revisions, make)
            per_s = READINGS / all_s
            yield at_least("spark_truth_readings_per_s_at_10000_subscriptions", per_s, GOAL_PER_S, 1.0)
            name = "spark_truth_readings_per_s_against_one_process_on_one_core"
            yield at_least(name, per_s, FEWER / alone_s, 0.8)
            yield from _boxes(readings, few, make)
            yield from _other_aggregators(few, make, FEWER / few_s)
        finally:
            close_session(spark)


def _boxes(readings: DataFrame, few: DataFrame, make: RunLanguages) -> Iterator[Measurement]:
    """Judge the same readings by as many boxes; what Spark finds is what one process finds."""
    revisions = _box_revisions()
    found_alone, _ = _alone(revisions, make, FEWER)
    found_few, _ = _through_spark(few, few, revisions, make)
    if found_few != found_alone:
        raise AssertionError(f"Spark found {found_few} matches of boxes, one process {found_alone}")
    _, seconds = _through_spark(readings, few, revisions, make)
    yield at_least("spark_truth_readings_per_s_at_10000_boxes", READINGS / seconds, GOAL_PER_S, 1.0)


def _other_aggregators(few: DataFrame, make: RunLanguages, by_min: float) -> Iterator[Measurement]:
    """State every other aggregator beside min, on the same readings."""
    for number, name in AGGREGATOR_NAMES.items():
        if number == MIN:
            continue
        _, seconds = _through_spark(few, few, _revisions(number), make)
        yield beside(f"spark_truth_readings_per_s_with_{name}_beside_min", FEWER / seconds, by_min)


def _through_spark(
    readings: DataFrame, first: DataFrame, revisions: list[SubscriptionRevision], make: RunLanguages
) -> tuple[int, float]:
    """Return the number of matches, and the seconds of the query on two processors.

    All workers have loaded the subscriptions before: they have judged the `first` readings.
    """
    first.transform(judged(revisions, make)).count()
    begin = processor_seconds()
    row = readings.transform(judged(revisions, make)).agg(F.sum(F.octet_length("degrees"))).first()
    assert row is not None
    return int(row[0]), (processor_seconds() - begin) / PROCESSORS


def _alone(revisions: list[SubscriptionRevision], make: RunLanguages, count: int) -> tuple[int, float]:
    """Return the same from one process without Spark."""
    search = ReadingSearch(revisions, make)
    table = _readings().slice(0, count).rename_columns({"at_ms": "event_ms"})
    batches = table.to_batches(max_chunksize=BATCH)
    _count(search, batches[0])
    begin = processor_seconds()
    found = sum(_count(search, batch) for batch in batches)
    return found, processor_seconds() - begin


def _count(search: ReadingSearch, batch: pa.RecordBatch) -> int:
    return sum(len(matches.degrees) for _, matches in search.matches(batch))


def _readings() -> pa.Table:
    """Return the columns of `filter_decisions` that ground truth looks at, in the order of time."""
    rng = np.random.default_rng(1)
    size = len(ATTRIBUTES)
    values = rng.integers(0, 256, READINGS * size).astype(np.uint8)
    ends = np.arange(READINGS + 1, dtype=np.int32)
    masks = np.full(READINGS, sum(1 << attribute for attribute in ATTRIBUTES), np.uint8)
    number = np.arange(READINGS)
    ones, zeros = np.ones(READINGS, np.int32), np.zeros(READINGS, np.int32)
    return pa.table(
        {
            "at_ms": number,
            "node": (number % 50).astype(np.int32),
            "event_number": (number // 50 % 65536).astype(np.int32),
            "event": zeros,
            "attributes": pa.Array.from_buffers(
                pa.binary(), READINGS, [None, pa.py_buffer(ends), pa.py_buffer(masks)]
            ),
            "values": pa.Array.from_buffers(
                pa.binary(), READINGS, [None, pa.py_buffer(size * ends), pa.py_buffer(values)]
            ),
            "installed": ones,
            "released": zeros,
            "suppressed": pa.nulls(READINGS, pa.string()),
            "exact": pa.nulls(READINGS, pa.binary()),
            "stamp": pa.nulls(READINGS, pa.int32()),
        }
    )


def _revisions(aggregator: int) -> list[SubscriptionRevision]:
    """Return subscriptions with threshold one half over three or four attributes (docs/vector-format.md)."""
    rng = random.Random(1)
    return [_revision(rng, number, aggregator) for number in range(SUBSCRIPTIONS)]


def _revision(rng: random.Random, number: int, aggregator: int) -> SubscriptionRevision:
    chosen = sorted(rng.sample(ATTRIBUTES, rng.choice((3, 4))))
    constraints = b""
    for _ in chosen:
        v = rng.randrange(200)
        constraints += bytes((v, v + rng.randrange(10, 56), rng.randrange(40, 90)))
    vector = bytes((number & 255, 0, 100, 0, 0, 8 << 4 | aggregator)) + _block(aggregator, len(chosen))
    vector += constraints + bytes((1, sum(1 << attribute for attribute in chosen)))
    return SubscriptionRevision(number >> 8, number & 255, 0, 1, 0, READINGS, None, vector, None)


def _box_revisions() -> list[SubscriptionRevision]:
    """Return subscriptions of one box each, over three or four attributes."""
    rng, found = random.Random(2), []
    for number in range(SUBSCRIPTIONS):
        sides = []
        for attribute in sorted(rng.sample(ATTRIBUTES, rng.choice((3, 4)))):
            low = rng.randrange(200)
            sides.append((attribute, low, low + rng.randrange(10, 56)))
        vector = bytes((number & 255, 0, 100)) + encode_body(BoxesBody(0, 0, (tuple(sides),)), 1)
        found.append(
            SubscriptionRevision(number >> 8, number & 255, 0, BOXES_ID, 0, READINGS, None, vector, None)
        )
    return found


def _block(aggregator: int, size: int) -> bytes:
    """Return weights, a named function, the pattern (p1 ∧ p2) ∨ the rest, or nothing."""
    if aggregator == WEIGHTED_MEAN:
        return bytes((size, 3, 5, 2, 1))[: 1 + size]
    if WITH_RULES >> aggregator & 1:
        return bytes((1, 0))
    if WITH_PATTERN >> aggregator & 1:
        pattern = pattern_bytes(short_form("d2c1" if size == 3 else "d2c2c", list(range(size))))
        return bytes((len(pattern),)) + pattern
    return b""
