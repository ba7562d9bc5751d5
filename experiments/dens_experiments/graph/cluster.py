"""Figures 5.32 and 5.33: the throughput of a cluster, by plan.

What each machine does for a publication is timed by itself; a pipeline is as quick as its slowest stage: the
front, or the fullest shard. So its throughput has a ceiling, which is what is drawn, for any number of
machines. Replication has none; on as many tasks as there are cores it is run on Spark, too.
"""

import os
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from dens_experiments.family import Request
from dens_experiments.graph import paper
from dens_experiments.graph.graphs import table
from dens_experiments.graph.merging import together
from dens_experiments.graph.populations import Population, holding, matches, population
from dens_experiments.graph.settings import settings_of
from dens_experiments.graph_workload import GraphWorkload
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.processor_time import processor_seconds
from dens_experiments.sampling import Sample, Tell, Timed, least_seconds, line_of
from dens_experiments.tables import number
from plugins.gtopss.matching.fast import FastMatcher
from plugins.gtopss.relations.shards import ShardPlan
from plugins.gtopss.vectors import encode_pattern
from spark_analysis.graphs.plans import planned

SIZES: Final = (1, 3, 5, 7)
SMALL_SIZES: Final = (1, 3)
PLANS: Final = {"containment": "containment", "frequency": "merging", "random": "random"}
"""Plan → what the chapter calls it."""
MERGED: Final = 70
SPARK_S: Final = 10.0
"""Processor seconds that a job on Spark takes at least."""
UNIT: Final = "times one machine"
"""One machine that holds everything is 1."""


def seconds_each(bodies: Sequence[bytes], vectors: Sequence[bytes], repetitions: int) -> float:
    """Return the processor time that a machine with these subscriptions takes for a publication."""
    if not vectors:
        return 0.0
    matcher = holding("fast", bodies)
    assert isinstance(matcher, FastMatcher), "what a node uses"
    matches(matcher, vectors)
    timed = Timed(partial(_find_all, matcher, vectors), len(vectors), {})
    return least_seconds({"": timed}, repetitions)[""] / len(vectors)


def _find_all(matcher: FastMatcher, vectors: Sequence[bytes]) -> None:
    for vector in vectors:
        matcher.found(vector)


def ceiling(
    drawn: Population, plan: ShardPlan, alone_s: float, repetitions: int
) -> tuple[float, dict[str, float]]:
    """Return by how much a pipeline of front and shards can outdo one machine, and what its stages take: for
    each publication, those that do not visit a shard costing it nothing.
    """
    front = [encode_pattern(pattern, table().dictionary) for pattern, _ in plan.front]
    front_s = seconds_each(front, drawn.vectors, repetitions) if front else 0.0
    visits = _visits(front, plan, drawn.vectors)
    taken = [0.0]
    for shard in range(plan.shards):
        mine = [drawn.bodies[place] for place in range(len(drawn.bodies)) if plan.shard_of[place] == shard]
        visiting = [vector for vector, shards in zip(drawn.vectors, visits, strict=True) if shard in shards]
        taken.append(seconds_each(mine, visiting, repetitions) * len(visiting) / len(drawn.vectors))
    stages = {
        "front, ms": 1e3 * front_s,
        "fullest shard, ms": 1e3 * max(taken),
        "entries in front": float(len(front)),
        "shards visited": sum(map(len, visits)) / len(visits),
    }
    return alone_s / max(front_s, *taken), stages


def _visits(front: Sequence[bytes], plan: ShardPlan, vectors: Sequence[bytes]) -> list[set[int]]:
    """Return the shards that each publication needs."""
    if not front:
        return [set(range(plan.shards))] * len(vectors)
    matcher = holding("fast", front)
    return [{plan.front[match.key[0]][1] for match in matcher.match(vector, 0, 0)} for vector in vectors]


def fig5_32(request: Request, tell: Tell) -> Panel:
    """Compare plans on clusters of more and more machines."""
    workload = GraphWorkload(matched=0.005)
    settings = settings_of(request, (100_000,), (1000,), workload, publications=20)
    count, sizes = settings.counts[-1], SMALL_SIZES if request.small else SIZES
    taken: dict[str, list[list[Sample]]] = {
        called: [[] for _ in sizes] for called in (*PLANS.values(), "replicate")
    }
    for seed in settings.seeds:
        drawn = population(settings.workload, count, settings.publications, seed)
        seen = together(drawn.bodies, drawn.vectors)
        alone_s = seconds_each(drawn.bodies, drawn.vectors, settings.repetitions)
        for place, size in enumerate(sizes):
            taken["replicate"][place].append(Sample(float(size), {}))
            for plan, called in PLANS.items():
                tell(f"{called}, {size} machines, seed {seed}")
                if size == 1:
                    taken[called][place].append(Sample(1.0, {}))
                    continue
                made = planned(plan, drawn.bodies, size - 1, table(), seen, MERGED / 100)
                taken[called][place].append(Sample(*ceiling(drawn, made, alone_s, settings.repetitions)))
    spark = () if request.small else (on_spark(drawn, alone_s, tell),)
    lines = {called: line_of(samples) for called, samples in taken.items()}
    remarks = (
        "A ceiling: alone ÷ max(front, fullest shard), processor time; replicate is the number of machines "
        "by definition, each judging its share of the publications.",
        *spark,
    )
    return Panel(
        "5.32 throughput by cluster size",
        "machines",
        UNIT,
        sizes,
        lines,
        "grows with the machines: × 4 by merging, more than × 2 by containment on 7",
        (paper.MERGING_7, paper.CONTAINMENT_7),
        shapes_of_32(lines, sizes),
        remarks,
        settings.words(subscriptions=f"{count:,}", merging=f"{MERGED} %"),
        same_scale=True,
    )


def shapes_of_32(lines: dict[str, Line], sizes: Sequence[int]) -> tuple[Shape, ...]:
    """Hold figure 5.32 against what the chapter says of it."""
    ends = {name: line.means[-1] for name, line in lines.items()}
    at = sizes[-1]
    ratios = ", ".join(f"{name} × {number(value)}" for name, value in ends.items())
    return (
        _at_least(
            "a cluster of 7 does four times as much by merging",
            ends["merging"],
            1 + 3 * (at - 1) / 6,
            at,
            "the front and what it lets through are the ceiling, whatever the number of machines",
        ),
        _at_least(
            "and more than twice as much by containment",
            ends["containment"],
            1 + (at - 1) / 6,
            at,
            "half of the subscriptions are roots, and the front matches all of them",
        ),
        Shape("merging outdoes containment", ratios, verdict(ends["merging"] > ends["containment"])),
        Shape(
            "(ours) replication outdoes every plan", ratios, verdict(ends["replicate"] >= max(ends.values()))
        ),
    )


def _at_least(claim: str, found: float, least: float, machines: int, why: str) -> Shape:
    """Hold a throughput against the chapter's, on its straight line where there are fewer machines."""
    return Shape(
        claim,
        f"× {number(found)} on {machines}",
        verdict(found >= least, found > 1.1),
        "" if found >= least else why,
    )


def fig5_33(request: Request, tell: Tell) -> Panel:
    """Merge more and more, with two clients and with four."""
    percentages = (30, 90) if request.small else (30, 60, 90)
    settings = settings_of(request, (100_000,), (1000,), GraphWorkload(matched=0.01), publications=20)
    count = settings.counts[-1]
    taken: dict[str, list[list[Sample]]] = {
        called: [[] for _ in percentages] for called in ("one machine", "2 clients", "4 clients")
    }
    for seed in settings.seeds:
        drawn = population(settings.workload, count, settings.publications, seed)
        seen = together(drawn.bodies, drawn.vectors)
        alone_s = seconds_each(drawn.bodies, drawn.vectors, settings.repetitions)
        for place, percent in enumerate(percentages):
            taken["one machine"][place].append(Sample(1.0, {}))
            for clients in (2, 4):
                tell(f"{percent} %, {clients} clients, seed {seed}")
                made = planned("frequency", drawn.bodies, clients, table(), seen, percent / 100)
                found = ceiling(drawn, made, alone_s, settings.repetitions)
                taken[f"{clients} clients"][place].append(Sample(*found))
    lines = {called: line_of(samples) for called, samples in taken.items()}
    four = lines["4 clients"].means
    return Panel(
        "5.33 throughput by merge percentage",
        "merge percentage",
        UNIT,
        percentages,
        lines,
        "rises with the merge percentage: at 90 % four times one machine (the text calls it figure 5.4.4)",
        (paper.MERGING_90,),
        (
            Shape(
                "the benefit rises with the merge percentage",
                f"4 clients: × {number(four[0])} to × {number(four[-1])}",
                verdict(four[-1] > four[0]),
                "" if four[-1] > four[0] else "mergers of little in common let more and more through",
            ),
            Shape(
                "at 90 % four times one machine",
                f"× {number(four[-1])}",
                verdict(four[-1] >= 4, four[-1] >= 2),
                ""
                if four[-1] >= 4
                else "the ceiling is the fullest shard: what is merged matches together, and is together",
            ),
        ),
        ("A ceiling, as in 5.32.",),
        settings.words(subscriptions=f"{count:,}"),
        same_scale=True,
    )


def on_spark(drawn: Population, alone_s: float, tell: Tell) -> str:
    """Judge on Spark with one task up to as many as there are cores, each with the whole index; return what
    that gives beside one machine, by processor time.
    """
    from spark_analysis.graphs.filter_batch import PUBLICATIONS, judged
    from spark_analysis.graphs.index_files import write_index
    from spark_analysis.graphs.index_shipping import ship
    from spark_analysis.graphs.judge import index_parts
    from spark_analysis.session.session import close_session, open_session

    rounds = max(1, round(SPARK_S / alone_s / len(drawn.vectors)))
    vectors = list(drawn.vectors) * rounds
    speedups = []
    with tempfile.TemporaryDirectory() as name:
        parts = index_parts(drawn.bodies, table(), drawn.vectors)
        names = [str(place) for place in range(len(drawn.bodies))]
        version = write_index(Path(name) / "index", parts.arrays, parts.header, names, table())
        rows = pa.table(
            [pa.array(range(len(vectors)), pa.int64()), pa.array(vectors, pa.binary())], PUBLICATIONS.names
        )
        pq.write_table(rows, Path(name) / "publications.parquet")
        spark = open_session()
        try:
            publications = spark.read.parquet(str(Path(name) / "publications.parquet"))
            judge = judged(ship(version, spark), table())
            for tasks in range(1, len(os.sched_getaffinity(0)) + 1):
                tell(f"Spark, {tasks} tasks")
                split = publications.repartition(tasks).cache()
                split.transform(judge).count()  # workers load, and Java compiles
                begin = processor_seconds()
                split.transform(judge).agg({"subscriptions": "count"}).collect()
                used = processor_seconds() - begin
                speedups.append(f"{tasks}: × {number(tasks * alone_s * len(vectors) / used)}")
        finally:
            close_session(spark)
    return f"On Spark, by tasks: {', '.join(speedups)}."
