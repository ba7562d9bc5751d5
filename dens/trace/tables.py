"""Reads the tables of a trace without Spark.

Dictionary columns are decoded, columns have the types of `dens.trace.schema`, and columns that an older
version did not write are null. Parts are untrusted (`dens.trace.parquet_guard`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dens.config.untrusted_folder import parts_in
from dens.trace.parquet_guard import read_part, refuse_other_types
from dens.trace.schema import ADDED_COLUMNS, RENAMED_WORDS, TABLES


def plain_schema(table: str, columns: Sequence[str] | None = None) -> pa.Schema:
    """Return the schema of these columns, or all, with dictionary columns decoded."""
    wanted = TABLES[table].names if columns is None else columns
    return pa.schema([_plain(TABLES[table].field(name)) for name in wanted])


def read_rows(run: Path, part: Path, table: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Return these columns of one part of a table, or all.

    A part that is damaged, of other types or out of bounds raises `DocumentError`.
    """
    schema = plain_schema(table, columns)
    rows = read_part(run, part, schema.names, may_lack=ADDED_COLUMNS.get(table, frozenset()))
    found = pa.schema([field for field in schema if field.name in rows.schema.names])
    refuse_other_types(part, rows.schema, found)
    filled = [
        _renamed(table, field.name, rows[field.name].cast(field.type))
        if field.name in rows.schema.names
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(filled, schema=pa.schema([field.with_nullable(True) for field in schema]))


def parts_of_table(run: Path, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """Yield the parts of a table in the order in which they were written."""
    for part in parts_in(run, table):
        yield read_rows(run, part, table, columns)


def rows_of(run: Path, table: str, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table, in the order in which they were written."""
    for rows in parts_of_table(run, table, columns):
        yield from rows.to_pylist()


def empty_table(table: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Return a table without rows."""
    schema = plain_schema(table, columns)
    return pa.schema([field.with_nullable(True) for field in schema]).empty_table()


def _renamed(table: str, column: str, values: Any) -> Any:
    """Return words of older versions under their present names."""
    words = RENAMED_WORDS.get((table, column))
    if words is None:
        return values
    places = pc.index_in(values, pa.array(words))
    return pc.coalesce(pa.chunked_array([list(words.values())]).take(places), values)


def _plain(field: Any) -> Any:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    return pa.field(field.name, kind, field.nullable)
