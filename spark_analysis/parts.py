"""Finds the Parquet files of a trace, and refuses one that is not whole; all of it without Spark."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from spark_analysis.errors import TraceError
from spark_analysis.losses import refuse_losses
from spark_analysis.manifest import Manifest
from spark_analysis.schema import TABLES


@dataclass(frozen=True, slots=True)
class Part:
    """One whole Parquet file of a table."""

    path: Path
    rows: int


def parts_in(folder: Path, manifest: Manifest) -> dict[str, tuple[Part, ...]]:
    """Return the parts of every table; a trace without any row is refused, and one that lost some."""
    parts = {name: _parts_of(folder / "trace" / name, name) for name in TABLES}
    if not rows_in(parts):
        raise TraceError(
            f"{folder}: the run is empty, no table of its trace has a row; run the scenario again"
        )
    refuse_losses(
        folder, manifest, {name: [part.path for part in of_table] for name, of_table in parts.items()}
    )
    return parts


def rows_in(parts: Mapping[str, tuple[Part, ...]]) -> int:
    """Return how many rows a trace has in all."""
    return sum(part.rows for table in parts.values() for part in table)


def _parts_of(folder: Path, table: str) -> tuple[Part, ...]:
    """Return the parts of one table in order, having read the footer of each."""
    paths = sorted(folder.glob("part-*.parquet"))
    for expected, path in enumerate(paths):
        number = re.fullmatch(r"part-(\d+)\.parquet", path.name)
        if number is None or int(number.group(1)) != expected:
            raise TraceError(
                f"{folder}: part {expected:05} is missing before {path.name}; "
                "the trace was damaged after it was written, run the scenario again"
            )
    return tuple(_read_footer(path, table) for path in paths)


def _read_footer(path: Path, table: str) -> Part:
    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise TraceError(
            f"{path}: not a whole Parquet file ({reason}); its writer was stopped in the middle or the "
            "disk was full, run the scenario again"
        ) from error
    missing = sorted(set(TABLES[table].names) - set(metadata.schema.names))
    if missing:
        raise TraceError(f"{path}: table {table} lacks the column {', '.join(missing)}")
    return Part(path, metadata.num_rows)
