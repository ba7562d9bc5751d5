"""The chapter's partitionings for workers: one index per shard, and one for the front stage."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from pyspark.sql import SparkSession

from knowledge_manager.mission_table import MissionTable
from plugins.gtopss.relations.mergers import Together
from plugins.gtopss.relations.shards import ShardPlan, containment_plan, frequency_plan, random_plan
from plugins.gtopss.vectors import decode_pattern, encode_pattern
from spark_analysis.graphs.index_files import IndexVersion, write_index
from spark_analysis.graphs.index_shipping import ShippedIndex, ship
from spark_analysis.graphs.judge import GraphJudge, bodies_in, index_parts
from spark_analysis.graphs.two_stage import SHARD, ShippedPlan

MERGED: Final = 0.7
"""The share of entries that `frequency` should merge, as in §5.4.4."""


def planned(
    name: str,
    bodies: Sequence[bytes],
    shards: int,
    table: MissionTable,
    together: Together,
    merged: float = MERGED,
) -> ShardPlan:
    """Return the shard of each subscription, by position; `together` has the co-matching subscriptions."""
    patterns = {place: decode_pattern(body, table.dictionary) for place, body in enumerate(bodies)}
    if name == "random":
        return random_plan(patterns, shards)
    if name == "containment":
        return containment_plan(patterns, shards, table.taxonomy)
    return frequency_plan(patterns, shards, table.taxonomy, together.pairs(), merged)


def shipped_plan(
    version: IndexVersion,
    name: str,
    shards: int,
    seen: Sequence[bytes],
    folder: Path,
    spark: SparkSession,
    table: MissionTable,
) -> ShippedPlan:
    """Split an index by a plan, write its parts into a folder, and ship them to workers.

    The sample publications in `seen` show `frequency` which subscriptions match together.
    """
    bodies = list(bodies_in(version.arrays))
    together = Together()
    if name == "frequency":
        found = GraphJudge(version, table).judge(seen)
        for place in range(len(seen)):
            together.saw(found.positions[found.ends[place] : found.ends[place + 1]].tolist())
    plan = planned(name, bodies, shards, table, together)
    used = sorted(set(plan.shard_of.values()))
    parts = []
    for shard in used:
        mine = [place for place in range(len(bodies)) if plan.shard_of[place] == shard]
        parts.append(
            _part(folder / f"shard-{shard}", [bodies[place] for place in mine], mine, None, spark, table)
        )
    if not plan.front:
        return ShippedPlan(tuple(parts))
    front = [encode_pattern(pattern, table.dictionary) for pattern, _ in plan.front]
    of_entry = [used.index(shard) for _, shard in plan.front]
    return ShippedPlan(tuple(parts), _part(folder / "front", front, None, of_entry, spark, table))


def _part(
    folder: Path,
    bodies: Sequence[bytes],
    positions: Sequence[int] | None,
    of_entry: Sequence[int] | None,
    spark: SparkSession,
    table: MissionTable,
) -> ShippedIndex:
    parts = index_parts(bodies, table, positions=positions)
    arrays = dict(parts.arrays) if of_entry is None else {**parts.arrays, SHARD: np.array(of_entry, np.int64)}
    names = [str(place) for place in (range(len(bodies)) if positions is None else positions)]
    return ship(write_index(folder, arrays, parts.header, names, table), spark)
