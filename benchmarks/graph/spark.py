"""Graphs on Spark: `mapInArrow` with the whole index beside a plain pool of processes, beside the same
question in SQL, and a stream beside a batch.

100,000 subscriptions of the thesis's mix, publications of 90 statements. Rates are publications per second of
processor time, of all processes together, after a first job in which Java compiles and workers load. The pool
is handed its publications in memory and packs its answers as Spark's workers do.
"""

import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.measurement import Measurement, alone, at_least, processor_seconds
from benchmarks.sizes import sized
from dens_experiments.graph.graphs import encoded, table
from dens_experiments.graph_workload import GraphWorkload
from dens_experiments.processor_time import started_by_children
from knowledge_manager.graphs.terms import Iri
from plugins.gtopss.vectors import decode_pattern, decode_publication
from spark_analysis.graphs.filter_batch import PUBLICATIONS, FilterJob, judged, packed
from spark_analysis.graphs.filter_stream import follow
from spark_analysis.graphs.index_files import IndexVersion, read_index, write_index
from spark_analysis.graphs.index_shipping import ShippedIndex, judge_of, ship
from spark_analysis.graphs.judge import GraphJudge, index_parts
from spark_analysis.graphs.results import write_matches
from spark_analysis.session.session import close_session, open_session

SUBSCRIPTIONS = sized(100_000, 200)
WORKLOADS = {
    "24_matches": replace(GraphWorkload(), matched=0.00024),
    "500_matches": replace(GraphWorkload(), matched=0.005),
}
DIFFERENT = sized(100, 5)
"""Publications that are drawn; jobs judge them again and again."""
PROCESSES = 2
CHUNK = sized(500, 20)
JOB_S = sized(12.0, 0.5)
"""Processor seconds that a job takes at least."""
IN_SQL = sized(20, 2)


def measure() -> Iterator[Measurement]:
    """Judge the same publications in four ways; all must find as many matches."""
    for name, workload in WORKLOADS.items():
        bodies, vectors = encoded(workload.drawn(SUBSCRIPTIONS, DIFFERENT, 1))
        with tempfile.TemporaryDirectory() as folder:
            yield from _measured(name, bodies, vectors, Path(folder))


def _measured(name: str, bodies: list[bytes], vectors: list[bytes], folder: Path) -> Iterator[Measurement]:
    parts = index_parts(bodies, table(), vectors)
    names = [str(n) for n in range(len(bodies))]
    write_index(folder / "index", parts.arrays, parts.header, names, table())
    version = read_index(folder / "index", table())
    judge = judge_of(ShippedIndex(version.digest, str(version.folder)), table())
    expected = len(judge.judge(vectors).positions)
    one_s = _by_one_process(judge, vectors)
    rounds = max(1, round(JOB_S / one_s / len(vectors)))
    total = rounds * len(vectors)
    yield alone(f"graph_spark_one_process_publications_per_s_{name}", 1 / one_s)
    pool_s = _by_pool(version, vectors, rounds, rounds * expected)
    _write_publications(folder / "publications", vectors, rounds)
    spark = open_session(f"local[{PROCESSES}]", large=True)
    try:
        shipped = ship(version, spark)
        told = spark.read.schema(PUBLICATIONS).parquet(str(folder / "publications"))
        arrow_s = _by_spark(told, shipped, rounds * expected)
        yield at_least(f"graph_spark_map_in_arrow_against_pool_{name}", total / arrow_s, total / pool_s, 0.8)
        batch_s, stream_s = _batch_and_stream(spark, told, shipped, folder, rounds * expected)
        yield at_least(f"graph_spark_stream_against_batch_{name}", total / stream_s, total / batch_s, 0.7)
        if name == "500_matches":  # last, because workers end meanwhile and take their time along
            sql_s = _by_sql(spark, bodies, vectors[:IN_SQL]) / IN_SQL
            yield at_least("graph_spark_map_in_arrow_against_spark_sql", total / arrow_s, 1 / sql_s, 100.0)
    finally:
        close_session(spark)


def _by_one_process(judge: GraphJudge, vectors: list[bytes]) -> float:
    """Return the processor time of a publication, from as many as take more than the clock's grain."""
    begin, done = time.process_time(), 0
    while time.process_time() - begin < 1.0:
        judge.judge(vectors)
        done += len(vectors)
    return (time.process_time() - begin) / done


def _write_publications(folder: Path, vectors: Sequence[bytes], rounds: int) -> None:
    """Write the publications into as many files as two batches of a stream have, in turn."""
    folder.mkdir()
    everything = list(vectors) * rounds
    parts = 2 * PROCESSES
    for part in range(parts):
        mine = everything[part::parts]
        numbers = pa.array(range(part, len(everything), parts), pa.int64())
        rows = pa.table([numbers, pa.array(mine, pa.binary())], names=PUBLICATIONS.names)
        pq.write_table(rows, folder / f"part-{part}.parquet")


_POOLED: list[ShippedIndex] = []


def _begin(shipped: ShippedIndex, warm: bytes) -> None:
    _POOLED.append(shipped)
    judge_of(shipped, table()).judge([warm])


def _judge_chunk(vectors: list[bytes]) -> tuple[int, int]:
    """Judge and pack; return how many matches there are, and the bytes that would go back."""
    found = judge_of(_POOLED[0], table()).judge(vectors)
    rows = packed(pa.array(range(len(vectors)), pa.int64()), found)
    return len(found.positions), rows.nbytes


def _by_pool(version: IndexVersion, vectors: list[bytes], rounds: int, expected: int) -> float:
    everything = vectors * rounds
    chunks = [everything[at : at + CHUNK] for at in range(0, len(everything), CHUNK)]
    shipped = ShippedIndex(version.digest, str(version.folder))
    begin_with = partial(_begin, shipped, vectors[0])
    with ProcessPoolExecutor(PROCESSES, get_context("spawn"), begin_with) as pool:
        list(pool.map(_judge_chunk, [[vectors[0]]] * 8 * PROCESSES))  # all have begun
        begin = processor_seconds()
        found = sum(matches for matches, _ in pool.map(_judge_chunk, chunks))
        used = processor_seconds() - begin
    _refuse_other(found, expected)
    return used


def _by_spark(told: DataFrame, shipped: ShippedIndex, expected: int) -> float:
    def count() -> int:
        rows = told.transform(judged(shipped, table()))
        return int(rows.agg(F.sum(F.length("subscriptions"))).first()[0]) // 4  # type: ignore[index]

    count()
    begin = processor_seconds()
    found = count()
    used = processor_seconds() - begin
    _refuse_other(found, expected)
    return used


def _batch_and_stream(
    spark: SparkSession, told: DataFrame, shipped: ShippedIndex, folder: Path, expected: int
) -> tuple[float, float]:
    begin = processor_seconds()
    totals = write_matches(told.transform(judged(shipped, table())), folder / "batch", as_rows=False)
    batch_s = processor_seconds() - begin
    _refuse_other(totals.matches, expected)
    begin = processor_seconds()
    streamed = follow(
        FilterJob(folder / "index", folder / "publications", folder / "stream", spark, table()),
        lambda batch: None,
        every_s=0.1,
        once=True,
    )
    stream_s = processor_seconds() - begin
    _refuse_other(streamed.matches, expected)
    return batch_s, stream_s


def _by_sql(spark: SparkSession, bodies: list[bytes], vectors: list[bytes]) -> float:
    """Count edges by four hash joins, one for each form of edge; variables are not even joined."""
    dictionary = table().dictionary
    edges = []
    for place, body in enumerate(bodies):
        for number, edge in enumerate(decode_pattern(body, dictionary).edges):
            ends = [end.text if isinstance(end, Iri) else None for end in (edge.subject, edge.object)]
            edges.append((place, number, ends[0], edge.property.text, ends[1]))
    triples = [
        (number, *(term.text for term in triple))  # type: ignore[union-attr]
        for number, vector in enumerate(vectors)
        for triple in decode_publication(vector, dictionary).graph
    ]
    asked = spark.createDataFrame(edges, "subscription int, edge int, s string, p string, o string").cache()
    told = spark.createDataFrame(triples, "number int, s string, p string, o string").cache()
    sizes = asked.groupBy("subscription").agg(F.count("*").alias("edges")).cache()
    asked.count(), told.count(), sizes.count()

    def count() -> int:
        forms = [
            (F.col("s").isNotNull() & F.col("o").isNotNull(), ["s", "p", "o"]),
            (F.col("s").isNotNull() & F.col("o").isNull(), ["s", "p"]),
            (F.col("s").isNull() & F.col("o").isNotNull(), ["p", "o"]),
            (F.col("s").isNull() & F.col("o").isNull(), ["p"]),
        ]
        found = None
        for condition, keys in forms:
            part = asked.where(condition).select("subscription", "edge", *keys)
            rows = part.join(told.select("number", *keys), keys).select("number", "subscription", "edge")
            found = rows if found is None else found.unionByName(rows)
        assert found is not None
        counted = found.distinct().groupBy("number", "subscription").agg(F.count("*").alias("met"))
        return counted.join(sizes, "subscription").where(F.col("met") == F.col("edges")).count()

    count()
    workers = started_by_children()  # idle, as SQL needs none
    begin = processor_seconds(*workers)
    count()
    return processor_seconds(*workers) - begin


def _refuse_other(found: int, expected: int) -> None:
    if found != expected:
        raise AssertionError(f"{found} matches were found, {expected} expected")
