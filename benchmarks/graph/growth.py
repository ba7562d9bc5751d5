"""How the time of `fast` grows with the population, in processor seconds of one process: one structure whose
comparisons differ, classes of a taxonomy that grows with them, properties alone. And what a pattern takes.
"""

import os
import random
from collections.abc import Iterator

from benchmarks.graph.populations import (
    bare,
    classed,
    compared,
    mixed,
    publication,
    seconds,
    table_with,
    vectors_of,
)
from benchmarks.measurement import Measurement, alone, at_most
from benchmarks.sizes import sized
from knowledge_manager.graphs.terms import Graph
from knowledge_manager.mission_table import MissionTable
from plugins.gtopss.matching.fast import FastMatcher
from plugins.gtopss.matching.graph_index import GraphIndex
from plugins.gtopss.pattern import Pattern

SMALL, SHAPES = sized((10_000, 3_000), (200, 50))
LARGE = int(os.environ.get("DENS_BENCH_LARGEST") or sized(1_000_000, 400))
"""The chapter's figure 5.24 goes to 100,000; ours ten times farther, where there is memory for it."""
MICROSECOND = 1e-6


def measure() -> Iterator[Measurement]:
    """Compare small and large populations, and weigh the index."""
    small, large = (_compared(count) for count in (SMALL, LARGE))
    yield at_most(f"graph_comparisons_{LARGE}_against_{SMALL}", large, small, 1.5)
    yield alone(f"graph_comparisons_{LARGE}_microseconds", large / MICROSECOND)
    small, large = (_classed(count) for count in (SMALL, LARGE))
    yield at_most(f"graph_is_a_{LARGE}_against_{SMALL}", large, small, 2.5)
    yield alone(f"graph_is_a_{LARGE}_microseconds", large / MICROSECOND)
    small, large = (_bare(count) for count in (SMALL, LARGE))
    yield at_most(f"graph_properties_only_{LARGE}_against_{SMALL}", large, small, 2.0)
    yield alone(f"graph_properties_only_{LARGE}_microseconds", large / MICROSECOND)
    yield from _memory()


def _find(patterns: list[Pattern], graphs: list[Graph], table: MissionTable) -> float:
    """Return the seconds of one publication, filed by what was seen."""
    vectors = vectors_of(graphs, table)
    index = GraphIndex.build(patterns, table)
    for vector in vectors:
        index.find(vector)
    index = GraphIndex.build(patterns, table, index)
    return seconds(lambda: [index.find(vector) for vector in vectors]) / len(vectors)


def _compared(count: int) -> float:
    patterns, graphs = compared(count, 1)
    return _find(patterns, graphs, table_with())


def _classed(count: int) -> float:
    patterns, graphs, taxonomy = classed(count, 2)
    return _find(patterns, graphs, table_with(taxonomy))


def _bare(count: int) -> float:
    """Return the seconds of one publication where so many want one of 3,000 shapes, the k-th 1/k times as
    often as the first (Zipf); those who match are handed out as slices.
    """
    patterns, graphs = bare(SHAPES, 3)
    table, rng = table_with(), random.Random(6)
    matcher = FastMatcher(table)
    wanted = rng.choices(patterns, [1 / (rank + 1) for rank in range(SHAPES)], k=count)
    for number, pattern in enumerate(wanted):
        matcher.enter((number, 0), pattern)
    vectors = vectors_of(graphs, table)
    for vector in vectors:
        matcher.found(vector)
    return seconds(lambda: [matcher.found(vector) for vector in vectors]) / len(vectors)


def _memory() -> Iterator[Measurement]:
    rng = random.Random(4)
    patterns = mixed(3 * SMALL, [publication(rng) for _ in range(200)], 5)
    arrays, _ = GraphIndex.build(patterns, table_with()).to_arrays()
    size = sum(array.nbytes for array in arrays.values()) / len(patterns)
    edges = sum(len(pattern.edges) for pattern in patterns) / len(patterns)
    yield at_most("graph_bytes_of_a_pattern_of_five_edges", size * 5 / edges, 160.0, 1.0)
