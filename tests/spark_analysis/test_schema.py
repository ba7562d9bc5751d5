"""Spark's types, the writer's schema and the page that documents it say the same."""

import re

import pyarrow as pa
from pyspark.sql.types import BinaryType, BooleanType, DataType, DoubleType, IntegerType, LongType, StringType

from dens.trace import schema as written
from spark_analysis import schema as read
from tests.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "trace-format.md"

AS_SPARK: dict[pa.DataType, DataType] = {
    pa.int32(): IntegerType(),
    pa.int64(): LongType(),
    pa.float64(): DoubleType(),
    pa.bool_(): BooleanType(),
    pa.string(): StringType(),
    pa.binary(): BinaryType(),
    pa.dictionary(pa.int8(), pa.string()): StringType(),
}

AS_PROSE = {
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "binary": pa.binary(),
    "word": pa.dictionary(pa.int8(), pa.string()),
}


def test_every_table_has_the_same_columns_in_the_same_order() -> None:
    assert list(read.TABLES) == list(written.TABLES)
    for name, table in written.TABLES.items():
        expected = [(field.name, AS_SPARK[field.type], field.nullable) for field in table]
        assert [(f.name, f.dataType, f.nullable) for f in read.TABLES[name]] == expected, name


def documented() -> dict[str, list[tuple[str, pa.DataType, bool]]]:
    """Read the tables of docs/reference/trace-format.md."""
    tables: dict[str, list[tuple[str, pa.DataType, bool]]] = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"## (\w+) — ", line):
            columns = tables.setdefault(heading.group(1), [])
        elif cells := re.match(r"\| ([\w, ]+) \| ([\w, ]+) \| ", line):
            names = cells.group(1).split(", ")
            if names == ["column"]:
                continue
            kinds = cells.group(2).removesuffix(", may be null").split(", ")
            kinds = kinds if len(kinds) == len(names) else kinds * len(names)
            nullable = cells.group(2).endswith(", may be null")
            columns.extend((name, AS_PROSE[kind], nullable) for name, kind in zip(names, kinds, strict=True))
    return tables


def test_the_page_names_every_column_with_its_type() -> None:
    expected = {
        name: [(field.name, field.type, field.nullable) for field in table]
        for name, table in written.TABLES.items()
    }
    assert documented() == expected
    assert f'"schema_version": {written.SCHEMA_VERSION}' in PAGE.read_text(encoding="utf-8")


def test_what_an_older_trace_lacks_may_be_null() -> None:
    for table, columns in written.ADDED_COLUMNS.items():
        assert all(written.TABLES[table].field(name).nullable for name in columns)
