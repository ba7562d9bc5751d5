"""Writes a trace while the run goes on, so that another program may follow it.

Rows are collected in memory and leave as one Parquet part of at most 100,000 rows. A part is written
under a name that begins with a dot and renamed when it is whole: whoever lists the folder sees whole
parts only. What a part contains depends on its rows alone, so the same run gives the same bytes.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pyarrow as pa
import pyarrow.parquet as pq

from emulation.trace.schema import TABLES

ROWS_PER_PART: Final = 100_000


class TraceError(OSError):
    """The trace cannot be written; the message says which file and why."""


class TableWriter:
    """Collects the rows of one table and writes them part by part."""

    def __init__(self, folder: Path, name: str, rows_per_part: int) -> None:
        self._folder = folder / name
        self._schema = TABLES[name]
        self._most = rows_per_part
        self._parts = 0
        self._rows: list[tuple[Any, ...]] = []
        self.written = 0
        _or_trace_error(self._folder, lambda: self._folder.mkdir(parents=True))

    def append(self, *row: Any) -> None:
        """Add one row, its values in the order of the schema."""
        self._rows.append(row)
        if len(self._rows) >= self._most:
            self.flush()

    def extend(self, columns: Sequence[Any]) -> None:
        """Add many rows at once, given as columns in the order of the schema."""
        self.flush()
        for begin in range(0, len(columns[0]), self._most):
            self._write([column[begin : begin + self._most] for column in columns])

    def flush(self) -> None:
        """Write what is collected as a part of its own, if there is anything.

        If this is interrupted, doing it again writes the same part under the same name.
        """
        if self._rows:
            self._write([list(column) for column in zip(*self._rows, strict=True)])
            self._rows = []

    @property
    def collected(self) -> int:
        """Return how many rows are not yet written."""
        return len(self._rows)

    def checkpoint(self) -> None:
        """Write the rest. A table without rows gets one empty part, so that readers find its columns."""
        self.flush()
        if self._parts == 0:
            self._write([[] for _ in self._schema])

    def _write(self, columns: Sequence[Any]) -> None:
        arrays = [_column(values, field) for values, field in zip(columns, self._schema, strict=True)]
        table = pa.Table.from_arrays(arrays, schema=self._schema)
        name = f"part-{self._parts:05d}.parquet"
        unfinished = self._folder / f".{name}"

        def write() -> None:
            try:
                pq.write_table(table, unfinished, compression="zstd")
                unfinished.replace(self._folder / name)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise

        _or_trace_error(self._folder / name, write)
        self._parts += 1
        self.written += table.num_rows


class TraceWriter:
    """The tables of one run. Leaving it as a context writes what is still collected, also after an
    interruption."""

    def __init__(self, folder: Path, rows_per_part: int = ROWS_PER_PART) -> None:
        self.tables: Final = {name: TableWriter(folder, name, rows_per_part) for name in TABLES}

    def __getitem__(self, table: str) -> TableWriter:
        return self.tables[table]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not isinstance(error, OSError):
            self.checkpoint()

    @property
    def collected(self) -> int:
        """Return how many rows of all tables are not yet written."""
        return sum(table.collected for table in self.tables.values())

    def checkpoint(self) -> None:
        """Write everything that is collected, so that a follower sees all that happened until now."""
        for table in self.tables.values():
            table.checkpoint()


def _column(values: Any, field: Any) -> Any:
    column: Any = pa.array(values, field.type)
    if column.null_count and not field.nullable:
        raise ValueError(f"column {field.name} has a row without a value, and its schema allows none")
    return column


def _or_trace_error(path: Path, action: Callable[[], object]) -> None:
    try:
        action()
    except OSError as error:
        reason = error.strerror or str(error)
        raise TraceError(error.errno, f"cannot write the trace: {reason}", str(path)) from error
