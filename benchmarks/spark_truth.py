"""Ground truth: readings × 10,000 subscriptions through Spark, beside the goal and beside one process."""

import random
import time
from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from benchmarks.measurement import Measurement, at_least
from spark_analysis.languages import matcher
from spark_analysis.metrics.owed import SubscriptionRevision
from spark_analysis.metrics.truth import ReadingSearch, wanted
from spark_analysis.session import close_session, open_session

SUBSCRIPTIONS = 10_000
READINGS = 100_000
GOAL_PER_S = 100_000.0
BATCH = 10_000


def measure() -> Iterator[Measurement]:
    """Count matches through Spark and in one process; both must find the same number."""
    from knowledge_manager.mission_table import load_mission_table

    chance = random.Random(1)
    revisions = [_revision(chance, number) for number in range(SUBSCRIPTIONS)]
    make = partial(matcher, load_mission_table(["medical"]))
    attributes, values = bytes((0b11011,)), [chance.randbytes(4) for _ in range(READINGS)]
    alone_s, found_alone = _alone(revisions, make, attributes, values)
    spark = open_session()
    try:
        names = "node int, event_number int, at_ms long, installed int, released int, event int"
        schema = f"{names}, attributes binary, values binary, suppressed string"
        rows = [(1, n & 65535, 500, 1, 0, 0, attributes, bytes_, None) for n, bytes_ in enumerate(values)]
        readings = spark.createDataFrame(rows, schema).repartition(2).cache()
        readings.count()
        readings.sample(0.001, 1).transform(wanted(revisions, make)).count()
        begin = time.perf_counter()
        found = readings.transform(wanted(revisions, make)).count()
        spark_s = time.perf_counter() - begin
    finally:
        close_session(spark)
    if found != found_alone:
        raise AssertionError(f"Spark found {found} matches, one process {found_alone}")
    yield at_least("spark_truth_readings_per_s_at_10000_subscriptions", READINGS / spark_s, GOAL_PER_S, 1.0)
    yield at_least("spark_truth_readings_per_s_against_one_process", alone_s, spark_s, 0.8)


def _alone(
    revisions: list[SubscriptionRevision], make: partial[object], attributes: bytes, values: list[bytes]
) -> tuple[float, int]:
    search = ReadingSearch(revisions, make)  # type: ignore[arg-type]
    batches = [_batch(attributes, values[at : at + BATCH]) for at in range(0, len(values), BATCH)]
    search.wanted_in(batches[0])
    begin = time.perf_counter()
    found = sum(search.wanted_in(batch).num_rows for batch in batches)
    return time.perf_counter() - begin, found


def _batch(attributes: bytes, values: list[bytes]) -> pa.RecordBatch:
    count = len(values)
    return pa.RecordBatch.from_pydict(
        {
            "node": pa.array([1] * count, pa.int32()),
            "event_number": pa.array(range(count), pa.int32()),
            "event_ms": pa.array([500] * count, pa.int64()),
            "installed": pa.array([1] * count, pa.int32()),
            "released": pa.array([0] * count, pa.int32()),
            "held_back": pa.array([False] * count),
            "event": pa.array([0] * count, pa.int32()),
            "attributes": pa.array([attributes] * count, pa.binary()),
            "values": pa.array(values, pa.binary()),
        }
    )


def _revision(chance: random.Random, number: int) -> SubscriptionRevision:
    """Return a subscription by min with threshold one half over three or four attributes (SPEC §3)."""
    chosen = sorted(chance.sample((0, 1, 3, 4), chance.choice((3, 4))))
    constraints = b""
    for _ in chosen:
        v = chance.randrange(200)
        constraints += bytes((v, v + chance.randrange(10, 56), chance.randrange(40, 90)))
    vector = bytes((number & 255, 0, 100, 0, 0, 8 << 4)) + constraints
    vector += bytes((1, sum(1 << attribute for attribute in chosen)))
    return SubscriptionRevision(number >> 8, number & 255, 0, 1, 0, 1_000_000, None, vector, None)
