"""One job: publications from files, an index and a plan, matches to a folder."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from dens.config.refusal import Refusal
from knowledge_manager.mission_table import MissionTable
from spark_analysis.graphs.filter_batch import PUBLICATIONS, judged
from spark_analysis.graphs.index_files import IndexVersion, read_index
from spark_analysis.graphs.index_shipping import ship
from spark_analysis.graphs.plans import shipped_plan
from spark_analysis.graphs.results import Totals, write_matches
from spark_analysis.graphs.two_stage import judged_in_stages

REPLICATE: Final = "replicate"
_PLAN: Final = ".plan"
_LINES: Final = ".publications"
_SEEN: Final = 200
"""Publications that a plan looks at, to know what matches together."""
_LINES_AT_ONCE: Final = 10_000
_FIELDS: Final[list[tuple[str, pa.DataType]]] = [("number", pa.int64()), ("vector", pa.binary())]
_SCHEMA: Final = pa.schema(_FIELDS)


def filter_publications(
    index: Path,
    publications: Path,
    out: Path,
    spark: SparkSession,
    table: MissionTable,
    *,
    plan: str = REPLICATE,
    shards: int = 4,
    as_rows: bool = False,
    tell: Callable[[str], None] = lambda step: None,
) -> Totals:
    """Judge all publications of a folder of Parquet, or of a file of vectors, and write `out/matches`."""
    version = read_index(index, table)
    out.mkdir(parents=True, exist_ok=True)
    if (out / "checkpoint").exists():
        raise Refusal(f"{out}: a stream writes there (--follow); choose another folder")
    told = _publications(publications, out, spark)
    tell(f"judging by {len(version.names):,} subscriptions …")
    transform = _transform(version, told, out, spark, table, plan, shards, tell)
    try:
        return write_matches(told.transform(transform), (out / "matches").absolute(), as_rows=as_rows)
    finally:
        shutil.rmtree(out / _PLAN, ignore_errors=True)
        shutil.rmtree(out / _LINES, ignore_errors=True)


def _transform(
    version: IndexVersion,
    told: DataFrame,
    out: Path,
    spark: SparkSession,
    table: MissionTable,
    plan: str,
    shards: int,
    tell: Callable[[str], None],
) -> Callable[[DataFrame], DataFrame]:
    if plan == REPLICATE:
        return judged(ship(version, spark), table)
    tell(f"splitting subscriptions ({plan}, {shards} shards) …")
    seen = [bytes(row["vector"]) for row in told.limit(_SEEN).collect()]
    return judged_in_stages(shipped_plan(version, plan, shards, seen, out / _PLAN, spark, table), table)


def _publications(path: Path, out: Path, spark: SparkSession) -> DataFrame:
    """Return the publications; of a file of lines each is known by its line, from 0."""
    if path.is_dir():
        files = sorted(path.glob("*.parquet"))
        if not files:
            raise Refusal(f"{path}: there is no Parquet file with publications in it")
        _refuse_others(files)
        reader = spark.read.schema(PUBLICATIONS).option("pathGlobFilter", "*.parquet")
        return reader.parquet(str(path.absolute()))
    if not path.is_file():
        raise Refusal(f"{path}: is neither a folder of Parquet nor a file of vectors; check the path")
    folder = out / _LINES
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    write_publications(path, folder)
    return spark.read.schema(PUBLICATIONS).parquet(str(folder.absolute()))


def _refuse_others(files: Sequence[Path]) -> None:
    """Refuse what is no table of publications before Spark reads it: each file's footer says what it is."""
    problems = []
    for file in files:
        try:
            found = pq.read_schema(file)
        except (pa.ArrowException, OSError) as error:
            problems.append(f"{file}: is no Parquet file that can be read: {str(error).splitlines()[0]}")
            continue
        if any(name not in found.names or found.field(name).type != kind for name, kind in _FIELDS):
            told = ", ".join(f"{one.name} ({one.type})" for one in found)
            problems.append(
                f"{file}: publications are a number (int64) and a vector (binary); here are {told}"
            )
    if problems:
        raise Refusal("\n".join(problems))


def write_publications(lines: Path, folder: Path) -> int:
    """Write a file of vectors in hexadecimal as Parquet, known by their lines; return how many there are.

    What is no hexadecimal stays the text that it is: it is no vector, and is told as one.
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
