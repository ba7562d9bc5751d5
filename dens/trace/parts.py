"""Finds the Parquet files of a trace and checks their footers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dens.config.untrusted_folder import parts_in
from dens.trace.losses import refuse_losses
from dens.trace.manifest import Manifest
from dens.trace.parquet_guard import footer_of, refuse_other_types
from dens.trace.run_documents import NotARun
from dens.trace.schema import ADDED_COLUMNS, TABLES
from dens.trace.tables import plain_schema


@dataclass(frozen=True, slots=True)
class Part:
    """One complete Parquet file of a table."""

    path: Path
    rows: int
    says: frozenset[str] = frozenset()
    """The columns of `ADDED_COLUMNS` that may have a value in it: most traces have none."""


def whole_parts(folder: Path, manifest: Manifest) -> dict[str, tuple[Part, ...]]:
    """Return the parts of every table; a trace without any row is refused, and one that lost some."""
    parts = {name: _parts_of(folder, name) for name in TABLES}
    if not rows_in(parts):
        raise NotARun(f"{folder}: the run is empty, no table of its trace has a row; run the scenario again")
    refuse_losses(
        folder, manifest, {name: [part.path for part in of_table] for name, of_table in parts.items()}
    )
    return parts


def rows_in(parts: Mapping[str, tuple[Part, ...]]) -> int:
    """Return how many rows a trace has in all."""
    return sum(part.rows for table in parts.values() for part in table)


def _parts_of(run: Path, table: str) -> tuple[Part, ...]:
    """Return the parts of one table in order, having read the footer of each."""
    paths = parts_in(run, table)
    for expected, path in enumerate(paths):
        number = re.fullmatch(r"part-(\d+)\.parquet", path.name)
        if number is None or int(number.group(1)) != expected:
            raise NotARun(
                f"{run / 'trace' / table}: part {expected:05} is missing before {path.name}; "
                "the trace was damaged after it was written, run the scenario again"
            )
    return tuple(_read_footer(run, path, table) for path in paths)


def _read_footer(run: Path, path: Path, table: str) -> Part:
    footer = footer_of(run, path)
    schema = footer.schema.to_arrow_schema()
    missing = set(TABLES[table].names) - set(schema.names)
    lost = sorted(missing - ADDED_COLUMNS.get(table, frozenset()))
    if lost:
        raise NotARun(f"{path}: table {table} lacks the column {', '.join(lost)}")
    written = [name for name in TABLES[table].names if name not in missing]
    refuse_other_types(path, schema, plain_schema(table, written))
    added = ADDED_COLUMNS.get(table, frozenset()) - missing
    return Part(path, footer.num_rows, frozenset(name for name in added if _may_say(footer, name)))


def _may_say(footer: Any, column: str) -> bool:
    """Return whether a column may have a value, from what a part's footer counts."""
    place = footer.schema.to_arrow_schema().get_field_index(column)
    for group in map(footer.row_group, range(footer.num_row_groups)):
        counted = group.column(place).statistics
        if counted is None or not counted.has_null_count or counted.null_count < group.num_rows:
            return True
    return False
