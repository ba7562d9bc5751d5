"""Reads the Parquet parts of a run's trace, which may come from anybody, without Spark.

A file of some kilobytes can declare billions of rows, and one word of a megabyte can stand in each of them.
So what a part declares is judged before it is read, words are read once and not once a row, and what comes
out is counted on the way. What remains is one page of the file, which its compression may have made small.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dens.config.problems import DocumentError
from dens.config.untrusted_folder import open_in

MOST_ROWS: Final = 10_000_000
"""Of one part; `dens run` writes 100,000 at most."""
MOST_ROW_GROUPS: Final = 1_000
MOST_COLUMNS: Final = 100
MOST_BYTES: Final = 1 << 30
"""Of one part, unpacked: as it is declared, and as it is counted while it is read."""
LONGEST_VALUE: Final = 64 * 1024
"""Bytes of one text or vector."""
_LARGEST_FOOTER: Final = 16 * 1024 * 1024
_ROWS_AT_ONCE: Final = 4_096


class _Absurd(ValueError):
    """A part declares or holds more than any part of a run."""


def footer_of(run: Path, part: Path) -> Any:
    """Return what a part says about itself (`pyarrow.parquet.FileMetaData`); raise `DocumentError` when it is
    damaged or beyond all bounds."""
    with _told(part), open_in(run, str(part.relative_to(run))) as file:
        return _opened(file).metadata


def read_part(
    run: Path, part: Path, columns: Sequence[str], may_lack: frozenset[str] = frozenset()
) -> pa.Table:
    """Return these columns of one part of a run, words spelt out; raise `DocumentError` when it is damaged,
    lacks one of them that it may not lack, or is beyond all bounds."""
    with _told(part), open_in(run, str(part.relative_to(run))) as file:
        return _read(file, columns, may_lack)


def refuse_other_types(part: Path, found: pa.Schema, wanted: pa.Schema) -> None:
    """Raise `DocumentError` when a column of a part has not the type that its table gives it."""
    other = [
        f"{field.name} ({found.field(field.name).type} instead of {field.type})"
        for field in wanted
        if _plain(found.field(field.name).type) != _plain(field.type)
    ]
    if other:
        raise _damaged(part, f"of another type: {', '.join(other)}")


def _read(file: BinaryIO, columns: Sequence[str], may_lack: frozenset[str]) -> pa.Table:
    source = _opened(file)
    schema = source.schema_arrow
    missing = [name for name in columns if name not in schema.names]
    if not may_lack.issuperset(missing):
        raise _Absurd(f"it lacks the column {', '.join(missing)}")
    columns = [name for name in columns if name not in missing]
    texts = [name for name in columns if _is_text(_plain(schema.field(name).type))]
    source = _opened(file, texts)
    plain = pa.schema([pa.field(name, _plain(schema.field(name).type)) for name in columns])
    batches, size = [plain.empty_table()], 0
    for batch in source.iter_batches(_ROWS_AT_ONCE, columns=list(columns), use_threads=False):
        for name in texts:
            _refuse_long(batch.column(name), name)
        rows = pa.Table.from_batches([batch]).select(list(columns)).cast(plain)
        size += rows.nbytes
        if size > MOST_BYTES:
            raise _Absurd(f"it holds more than {MOST_BYTES:,} bytes, the most that is read")
        batches.append(rows)
    return pa.concat_tables(batches)


def _opened(file: BinaryIO, texts: Sequence[str] = ()) -> pq.ParquetFile:
    """Open a part whose declarations are within bounds; the given columns are read word by word."""
    file.seek(-min(8, os.fstat(file.fileno()).st_size), os.SEEK_END)
    end = file.read(8)
    if len(end) < 8 or end[4:] != b"PAR1":
        raise _Absurd("not a whole Parquet file")
    if int.from_bytes(end[:4], "little") > _LARGEST_FOOTER:
        raise _Absurd("its footer is larger than anything that a part has to say")
    file.seek(0)
    source = pq.ParquetFile(file, read_dictionary=list(texts))
    _refuse_absurd(source.metadata)
    return source


def _refuse_absurd(footer: Any) -> None:
    for declared, most, what in (
        (footer.num_rows, MOST_ROWS, "rows"),
        (footer.num_row_groups, MOST_ROW_GROUPS, "row groups"),
        (footer.num_columns, MOST_COLUMNS, "columns"),
    ):
        if not 0 <= declared <= most:
            raise _Absurd(f"it declares {declared:,} {what}; {most:,} are the most that is read")
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    sizes = [group.total_byte_size for group in groups]
    if min(sizes, default=0) < 0 or sum(sizes) > MOST_BYTES:
        raise _Absurd(f"it declares {sum(sizes):,} bytes; {MOST_BYTES:,} are the most that is read")
    if sum(group.num_rows for group in groups) != footer.num_rows:
        raise _Absurd("its row groups do not add up to its rows")


def _refuse_long(column: Any, name: str) -> None:
    words = column.dictionary if pa.types.is_dictionary(column.type) else column
    longest = pc.max(pc.binary_length(words)).as_py() or 0
    if longest > LONGEST_VALUE:
        raise _Absurd(f"a value of {name} has {longest:,} bytes; {LONGEST_VALUE:,} are the most that is read")


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))


@contextmanager
def _told(part: Path) -> Iterator[None]:
    """Turn what Parquet's reader raises into the refusal of a part."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError, pa.ArrowException) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise _damaged(part, reason) from error


def _damaged(part: Path, reason: str) -> DocumentError:
    return DocumentError.of_file(
        str(part), "D384", f"this part of the trace cannot be read ({reason[:300]}); do the run again"
    )
