"""The rows of one table of a trace, read back to be held against those of another."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from documents.untrusted_folder import parts_in
from traces.parquet_guard import read_part, refuse_other_types
from traces.schema import TABLES


def rows_before(run: Path, table: str, until_ms: int) -> pa.Table:
    """Return the rows before a moment with their words spelt out: of legs and contacts those that ended by
    then."""
    schema = TABLES[table]
    plain = _plain(table)
    if until_ms == 0:
        return plain.empty_table()  # It may have been interrupted before there was anything.
    rows = pa.concat_tables([plain.empty_table(), *_parts(run, table)])
    time = next((name for name in ("at_ms", "created_ms", "end_ms") if name in schema.names), None)
    rows = rows if time is None else rows.filter(pc.less(rows[time], pa.scalar(until_ms, pa.int64())))
    return rows.combine_chunks()


def gist_of(run: Path, table: str) -> tuple[int, int]:
    """Return how many rows there are and the sum of their hashes: the same for the same rows in any order.

    It holds within one process only, and takes no more memory than one part.
    """
    amount = total = 0
    for part in _parts(run, table):
        amount += part.num_rows
        columns = [column.to_pylist() for column in part.columns]
        total += sum(hash(repr(row)) for row in zip(*columns, strict=True))
    return amount, total


def _parts(run: Path, table: str) -> Iterator[pa.Table]:
    plain = _plain(table)
    for part in parts_in(run, table):
        rows = read_part(run, part, plain.names)
        refuse_other_types(part, rows.schema, plain)
        yield rows.cast(plain)


def _plain(table: str) -> pa.Schema:
    """Return the columns of a table with words instead of numbers for words."""
    return pa.schema(
        [
            pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
            for field in TABLES[table]
        ]
    )
