"""The rows of one table of a trace, read back to be held against those of another."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from dens.trace.schema import TABLES
from dens.trace.tables import empty_table, parts_of_table


def rows_before(run: Path, table: str, until_ms: int) -> pa.Table:
    """Return the rows before a moment with their words spelt out: of legs and contacts those that ended by
    then."""
    nothing = empty_table(table)
    if until_ms == 0:
        return nothing  # It may have been interrupted before there was anything.
    rows = pa.concat_tables([nothing, *parts_of_table(run, table)])
    time = next((name for name in ("at_ms", "created_ms", "end_ms") if name in TABLES[table].names), None)
    rows = rows if time is None else rows.filter(pc.less(rows[time], pa.scalar(until_ms, pa.int64())))
    return rows.combine_chunks()


def gist_of(run: Path, table: str) -> tuple[int, int]:
    """Return how many rows there are and the sum of their hashes: the same for the same rows in any order.

    It holds within one process only, and takes no more memory than one part.
    """
    amount = total = 0
    for part in parts_of_table(run, table):
        amount += part.num_rows
        columns = [column.to_pylist() for column in part.columns]
        total += sum(hash(repr(row)) for row in zip(*columns, strict=True))
    return amount, total
