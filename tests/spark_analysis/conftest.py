"""A cluster, a server of Spark Connect, and small runs written where a test wants them."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from dens.trace.schema import SCHEMA_VERSION, TABLES
from spark_analysis.schema import TABLES as SPARK_TABLES
from tests.spark_analysis.clusters import Cluster, connect_server, ended

Rows = Sequence[Mapping[str, Any]]
MakeTable = Callable[..., DataFrame]
WriteRun = Callable[..., Path]


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start a cluster once for all tests; whoever asks takes its `two_workers`."""
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    yield found
    found.end()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a server of Spark Connect once for all tests, and give its address."""
    url, process = connect_server(tmp_path_factory.mktemp("connect"))
    yield url
    ended(process)


@pytest.fixture
def make_table(spark: SparkSession) -> MakeTable:
    """Return a function that creates a trace table from rows and fills columns that the test omits."""
    fillers: dict[str, Any] = {
        "int": 0,
        "bigint": 0,
        "double": 0.0,
        "string": "",
        "binary": b"",
        "boolean": False,
    }

    def make(name: str, *rows: Mapping[str, Any]) -> DataFrame:
        schema = SPARK_TABLES[name]
        complete = []
        for row in rows:
            assert set(row) <= set(schema.names)
            complete.append(
                tuple(
                    row[field.name]
                    if field.name in row
                    else None
                    if field.nullable
                    else fillers[field.dataType.simpleString()]
                    for field in schema
                )
            )
        return spark.createDataFrame(complete, schema).coalesce(1)

    return make


def write_tables(
    run: Path,
    tables: Mapping[str, Rows],
    manifest: Mapping[str, Any] | None = None,
    rows_per_part: int = 100_000,
) -> Path:
    """Write a run's folder with the writer's own schema, and return it."""
    for table, rows in tables.items():
        folder = run / "trace" / table
        folder.mkdir(parents=True)
        for part, begin in enumerate(range(0, len(rows), rows_per_part)):
            columns = pa.Table.from_pylist(
                [dict(row) for row in rows[begin : begin + rows_per_part]], schema=TABLES[table]
            )
            pq.write_table(columns, folder / f"part-{part:05}.parquet", compression="zstd")
    run.mkdir(exist_ok=True)
    facts = {
        "schema_version": SCHEMA_VERSION,
        "status": "complete",
        "simulated_ms": 3_600_000,
        "seed": 1,
        "scenario": {"name": "made", "title": "Made by hand", "vocabularies": ["medical"]},
    }
    (run / "manifest.json").write_text(json.dumps({**facts, **(manifest or {})}))
    return run


@pytest.fixture
def write_run(tmp_path: Path) -> WriteRun:
    """Return a function that writes a run below the test's own folder."""

    def write(
        tables: Mapping[str, Rows],
        manifest: Mapping[str, Any] | None = None,
        name: str = "run",
        rows_per_part: int = 100_000,
    ) -> Path:
        return write_tables(tmp_path / name, tables, manifest, rows_per_part)

    return write
