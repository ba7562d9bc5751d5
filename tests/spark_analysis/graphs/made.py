"""Little indexes and publications of graphs, and what one process says of them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dens_experiments.graph.graphs import encoded, table
from dens_experiments.graph_workload import GraphWorkload
from plugins.gtopss.matching.matcher import GraphMatcher
from plugins.gtopss.matching.naive import NaiveSearch
from spark_analysis.graphs.filter_batch import PUBLICATIONS
from spark_analysis.graphs.index_files import write_index
from spark_analysis.graphs.judge import index_parts

Pairs = set[tuple[int, int, bool]]

WORKLOAD = replace(GraphWorkload(), matched=0.02, bases=4, nodes=12, edges=24, names=100, properties=10)


def drawn(subscriptions: int, publications: int, seed: int = 1) -> tuple[list[bytes], list[bytes]]:
    """Return bodies of subscriptions and vectors of publications."""
    return encoded(WORKLOAD.drawn(subscriptions, publications, seed))


def make_index(folder: Path, bodies: Sequence[bytes]) -> Path:
    parts = index_parts(bodies, table())
    write_index(folder, parts.arrays, parts.header, [f"line {n}" for n in range(len(bodies))], table())
    return folder


def write_part(folder: Path, part: int, vectors: Sequence[bytes], first: int) -> None:
    """Put a file of publications into a folder, whole, as programs do that are followed."""
    folder.mkdir(exist_ok=True)
    numbers = pa.array(range(first, first + len(vectors)), pa.int64())
    rows = pa.table([numbers, pa.array(vectors, pa.binary())], names=PUBLICATIONS.names)
    pq.write_table(rows, folder / f".{part}.writing")
    (folder / f".{part}.writing").rename(folder / f"part-{part:05}.parquet")


def by_one_process(bodies: Sequence[bytes], vectors: Sequence[bytes], first: int = 0) -> Pairs:
    """Return the pairs that the definition says."""
    matcher = GraphMatcher(table(), NaiveSearch())
    for place, body in enumerate(bodies):
        matcher.add((place, 0), body)
    return {
        (first + n, match.key[0], bool(match.detail))
        for n, vector in enumerate(vectors)
        for match in matcher.match(vector, 0, 0)
    }


def written_pairs(out: Path) -> list[tuple[int, int, bool]]:
    """Return the pairs of a job with a row a match, sorted."""
    rows = pq.read_table(out / "matches", partitioning=None).to_pylist()
    return sorted((row["number"], row["subscription"], row["undecided"]) for row in rows)
