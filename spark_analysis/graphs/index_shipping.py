"""Ships an index to the workers: by path on the same machine, otherwise as an archive.

Each version has its own name, so that a stream can use one while the next is shipped. A worker process loads
an index once, not once per task: loading takes longer than matching a small batch.
"""

import atexit
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from knowledge_manager.mission_table import MissionTable
from spark_analysis.graphs.index_files import IndexVersion, packed_version, read_version
from spark_analysis.graphs.judge import GraphJudge
from spark_analysis.session.connect import is_remote

_LOADED_AT_ONCE: Final = 16
"""Indexes that a process caches: a version and its predecessor, or the shards of a plan."""


@dataclass(frozen=True, slots=True)
class ShippedIndex:
    """Where workers find a version of an index."""

    digest: str
    place: str
    """A path, or the name of an archive that workers unpack."""


def ship(version: IndexVersion, spark: SparkSession) -> ShippedIndex:
    """Make a version of an index available to all workers of a session, including later ones."""
    if not is_remote(spark) and str(spark.sparkContext.master).startswith("local"):
        return ShippedIndex(version.digest, str(version.folder.absolute()))
    name = f"dens_index_{version.digest[:24]}"
    beside = Path(tempfile.mkdtemp(prefix="dens-index-"))
    atexit.register(shutil.rmtree, beside, ignore_errors=True)
    archive = packed_version(version.folder, beside / f"{name}.zip")
    if is_remote(spark):
        spark.addArtifacts(f"{archive}#{name}", archive=True)
    else:
        spark.sparkContext.addArchive(f"{archive}#{name}")
    return ShippedIndex(version.digest, name)


_loaded: dict[str, GraphJudge] = {}
"""The cached indexes of this process by digest, the last used one at the end."""


def judge_of(shipped: ShippedIndex, table: MissionTable) -> GraphJudge:
    """Return a shipped index, loaded on first use in this process."""
    judge = _loaded.pop(shipped.digest, None)
    if judge is None:
        judge = GraphJudge(read_version(_found(shipped.place), table), table)
        while len(_loaded) >= _LOADED_AT_ONCE:
            del _loaded[next(iter(_loaded))]
    _loaded[shipped.digest] = judge
    return judge


def _found(place: str) -> Path:
    here = Path(place)
    if here.is_dir():
        return here
    from pyspark import SparkFiles  # on workers of a cluster; the client of Spark Connect has no such module

    return Path(SparkFiles.get(place))
