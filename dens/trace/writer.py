"""Writes a trace while the run goes on, so that another program may follow it.

Rows are collected in memory and leave as one Parquet part of at most 100,000 rows. A part is written
under a name that begins with a dot and renamed when it is whole: whoever lists the folder sees whole
parts only. What a part contains depends on its rows alone, so the same run gives the same bytes.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from struct import Struct
from types import TracebackType
from typing import Any, Final, Self, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dens.config.atomic_write import whole_file
from dens.config.untrusted_folder import parts_in, path_in
from dens.trace.columns import column_of, of_numbers, of_words
from dens.trace.schema import TABLES

ROWS_PER_PART: Final = 100_000
NOTHING: Final = -(1 << 63)
"""Stands for no value among the numbers of a table."""


class TraceError(OSError):
    """The trace cannot be written; the message says which file and why."""


class Codes(dict[str, int]):
    """The words of one column by their codes; a word that is new gets the next one."""

    def __missing__(self, word: str) -> int:
        code = self[word] = len(self)
        return code


class TableWriter:
    """Collects the rows of one table and writes them part by part.

    A table of numbers and words can be filled in two ways, of which a table uses one: `append` takes a row of
    plain values; `numbers.extend` takes what `packed` makes of a row of numbers alone, with words as their
    `codes` and `NOTHING` for no value, which is many times cheaper.
    """

    def __init__(self, folder: Path, name: str, rows_per_part: int, *, goes_on: bool) -> None:
        self._folder = folder / name
        self._schema = TABLES[name]
        self._words: Any = [field.name for field in self._schema if pa.types.is_dictionary(field.type)]
        """Columns with few different values. A dictionary of times or numbers makes files larger."""
        self._most = rows_per_part
        self._run = folder.parent
        path_in(self._run, f"{folder.name}/{name}")
        _or_trace_error(self._folder, lambda: self._folder.mkdir(parents=True, exist_ok=goes_on))
        self._parts = _next_part(folder, name)
        self._rows: list[tuple[Any, ...]] = []
        self._codes: dict[str, Codes] = {}
        self.numbers: Final = bytearray()
        row = Struct(f"={len(self._schema)}q")
        self.packed: Final = row.pack
        self._row_bytes = row.size
        self.written = 0
        self.arrange: Callable[[NDArray[np.int64]], NDArray[np.int64]] | None = None
        """Puts rows of `numbers` into the order in which they are written, if that is another."""

    def append(self, *row: Any) -> None:
        """Add one row, its values in the order of the schema."""
        self._rows.append(row)
        if len(self._rows) >= self._most:
            self.flush()

    def codes(self, column: str) -> Codes:
        """Return the codes of the words of this column, to be used in `numbers`."""
        return self._codes.setdefault(column, Codes())

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
        if self.numbers:
            rows = np.frombuffer(bytes(self.numbers), np.int64).reshape(-1, len(self._schema))
            if self.arrange is not None:
                rows = self.arrange(rows)
                self.numbers[:] = rows.tobytes()
            for begin in range(0, len(rows), self._most):
                part = rows[begin : begin + self._most].T
                self._write([self._read(*one) for one in zip(part, self._schema, strict=True)])
                # What is written is forgotten part by part, so that nothing is written twice.
                del self.numbers[: part.shape[1] * self._row_bytes]

    @property
    def collected(self) -> int:
        """Return how many rows are not yet written."""
        return len(self._rows) + len(self.numbers) // self._row_bytes

    def checkpoint(self) -> None:
        """Write the rest. A table without rows gets one empty part, so that readers find its columns."""
        self.flush()
        if self._parts == 0:
            self._write([[] for _ in self._schema])

    def _read(self, column: np.ndarray, field: Any) -> Any:
        """Return a column of numbers as its field wants it; of words only those that are used."""
        is_nothing = column == NOTHING
        numbers = np.where(is_nothing, 0, column)
        if not pa.types.is_dictionary(field.type):
            return of_numbers(numbers, field.type, is_nothing)
        used = np.flatnonzero(np.bincount(numbers[~is_nothing], minlength=1))
        places = np.zeros(len(self._codes[field.name]) + 1, np.int8)
        places[used] = np.arange(len(used))
        words = list(self._codes[field.name])
        return of_words(places[numbers], [words[one] for one in used], is_nothing)

    def _write(self, columns: Sequence[Any]) -> None:
        arrays = [_column(values, field) for values, field in zip(columns, self._schema, strict=True)]
        table = pa.Table.from_arrays(arrays, schema=self._schema)
        name = f"part-{self._parts:05d}.parquet"

        def write() -> None:
            # Packed in memory first: an interruption never comes between Parquet's writer and the file.
            packed = pa.BufferOutputStream()
            pq.write_table(table, packed, compression="zstd", use_dictionary=cast(Any, self._words))
            with whole_file(self._folder / name, within=self._run) as file:
                file.write(packed.getvalue())

        _or_trace_error(self._folder / name, write)
        self._parts += 1
        self.written += table.num_rows


class TraceWriter:
    """The tables of one run. Leaving it as a context writes what is still collected, also after an
    interruption."""

    def __init__(self, folder: Path, rows_per_part: int = ROWS_PER_PART, *, goes_on: bool = False) -> None:
        """Refuse a folder that is there; with `goes_on` add to what is in it."""
        self.tables: Final = {
            name: TableWriter(folder, name, rows_per_part, goes_on=goes_on) for name in TABLES
        }

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


def parts_of_tables(run: Path) -> dict[str, int]:
    """Return how many whole parts each table of a run has."""
    tables = sorted(table.name for table in (run / "trace").glob("*/"))
    return {name: len(parts_in(run, name)) for name in tables}


def _next_part(trace: Path, table: str) -> int:
    """Return a number above those of all parts that are there, also where one was lost."""
    digits = (part.stem.removeprefix("part-") for part in parts_in(trace.parent, table, trace.name))
    return max((int(one) + 1 for one in digits if one.isdecimal()), default=0)


def _column(values: Any, field: Any) -> Any:
    column: Any = values if isinstance(values, pa.Array) else column_of(values, field)
    if column.null_count and not field.nullable:
        raise ValueError(f"column {field.name} has a row without a value, and its schema allows none")
    return column


def _or_trace_error(path: Path, action: Callable[[], object]) -> None:
    try:
        action()
    except OSError as error:
        reason = error.strerror or str(error)
        raise TraceError(error.errno, f"cannot write the trace: {reason}", str(path)) from error
