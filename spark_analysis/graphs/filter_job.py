"""A batch job: matches publications from files against an index and writes the matches to a folder."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from dens.config.refusal import Refusal
from spark_analysis.graphs.filter_batch import PUBLICATIONS, FilterJob, judged
from spark_analysis.graphs.index_files import IndexVersion, read_index
from spark_analysis.graphs.index_shipping import ship
from spark_analysis.graphs.plans import shipped_plan
from spark_analysis.graphs.results import Totals, write_matches
from spark_analysis.graphs.two_stage import judged_in_stages

REPLICATE: Final = "replicate"
_PLAN: Final = ".plan"
_LINES: Final = ".publications"
_SEEN: Final = 200
"""Publications that a plan samples to learn which subscriptions match together."""
_LINES_AT_ONCE: Final = 10_000
_FIELDS: Final[list[tuple[str, pa.DataType]]] = [("number", pa.int64()), ("vector", pa.binary())]
_SCHEMA: Final = pa.schema(_FIELDS)


def filter_publications(
    job: FilterJob,
    *,
    plan: str = REPLICATE,
    shards: int = 4,
    report: Callable[[str], None] = lambda step: None,
) -> Totals:
    """Match all publications of a folder of Parquet, or of a file of vectors, and write `out/matches`."""
    version = read_index(job.index, job.table)
    out = job.out
    out.mkdir(parents=True, exist_ok=True)
    if (out / "checkpoint").exists():
        raise Refusal(f"{out}: a stream (--follow) writes to this folder; choose another one")
    frame = _publications(job.publications, out, job.spark)
    report(f"matching against {len(version.names):,} subscriptions …")
    if plan != REPLICATE:
        report(f"splitting subscriptions ({plan}, {shards} shards) …")
    transform = _transform(job, version, frame, plan, shards)
    try:
        return write_matches(frame.transform(transform), (out / "matches").absolute(), as_rows=job.as_rows)
    finally:
        shutil.rmtree(out / _PLAN, ignore_errors=True)
        shutil.rmtree(out / _LINES, ignore_errors=True)


def _transform(
    job: FilterJob, version: IndexVersion, frame: DataFrame, plan: str, shards: int
) -> Callable[[DataFrame], DataFrame]:
    if plan == REPLICATE:
        return judged(ship(version, job.spark), job.table)
    seen = [bytes(row["vector"]) for row in frame.limit(_SEEN).collect()]
    shipped = shipped_plan(version, plan, shards, seen, job.out / _PLAN, job.spark, job.table)
    return judged_in_stages(shipped, job.table)


def _publications(path: Path, out: Path, spark: SparkSession) -> DataFrame:
    """Return the publications; in a file of lines the number is the line, from 0."""
    if path.is_dir():
        files = sorted(path.glob("*.parquet"))
        if not files:
            raise Refusal(f"{path}: the folder has no Parquet files")
        _refuse_others(files)
        reader = spark.read.schema(PUBLICATIONS).option("pathGlobFilter", "*.parquet")
        return reader.parquet(str(path.absolute()))
    if not path.is_file():
        raise Refusal(f"{path}: not a folder of Parquet files or a file of vectors; check the path")
    folder = out / _LINES
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    write_publications(path, folder)
    return spark.read.schema(PUBLICATIONS).parquet(str(folder.absolute()))


def _refuse_others(files: Sequence[Path]) -> None:
    """Reject files that are not tables of publications, by their footers, before Spark reads them."""
    problems = []
    for file in files:
        try:
            found = pq.read_schema(file)
        except (pa.ArrowException, OSError) as error:
            problems.append(f"{file}: not a readable Parquet file: {str(error).splitlines()[0]}")
            continue
        if any(name not in found.names or found.field(name).type != kind for name, kind in _FIELDS):
            columns = ", ".join(f"{column.name} ({column.type})" for column in found)
            problems.append(f"{file}: expected the columns number (int64) and vector (binary), not {columns}")
    if problems:
        raise Refusal("\n".join(problems))


def write_publications(lines: Path, folder: Path) -> int:
    """Write a file of hex vectors as Parquet, numbered by line; return their number.

    Lines that are not hex are kept verbatim and reported as invalid vectors.
    """
    total, rows = 0, list[tuple[int, bytes]]()
    with lines.open(encoding="ascii", errors="replace") as file:
        for number, line in enumerate(file):
            if line.strip():
                rows.append((number, _vector(line.strip())))
            if len(rows) == _LINES_AT_ONCE:
                total += _write_part(rows, folder, total)
                rows = []
    return total + _write_part(rows, folder, total)


def _write_part(rows: list[tuple[int, bytes]], folder: Path, before: int) -> int:
    if rows or not before:
        numbers, vectors = [number for number, _ in rows], [vector for _, vector in rows]
        table = pa.table([pa.array(numbers, pa.int64()), pa.array(vectors, pa.binary())], schema=_SCHEMA)
        pq.write_table(table, folder / f"part-{before:09}.parquet")
    return len(rows)


def _vector(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return text.encode()
