"""The tables of a trace as Spark reads them: version 2 of docs/trace-format.md, and older ones.

Reading with a given schema means that no file is opened to guess one, that a table without any part is an
empty frame and not an error, and that a column of another type is noticed. The writer's side is
`traces/schema.py`; neither imports the other, and a contract test keeps the three equal.
"""

from typing import Final

from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

_bool, _int, _long, _double = BooleanType(), IntegerType(), LongType(), DoubleType()
_text, _bytes = StringType(), BinaryType()


def _table(*columns: tuple[str, DataType], nullable: tuple[str, ...] = ()) -> StructType:
    return StructType([StructField(name, kind, name in nullable) for name, kind in columns])


TABLES: Final[dict[str, StructType]] = {
    "nodes": _table(("node", _int), ("name", _text), ("group", _text), ("role", _text)),
    "motion": _table(
        ("node", _int),
        ("begin_ms", _double),
        ("end_ms", _double),
        ("x0_m", _double),
        ("y0_m", _double),
        ("x1_m", _double),
        ("y1_m", _double),
    ),
    "contacts": _table(
        ("a", _int), ("b", _int), ("begin_ms", _double), ("end_ms", _double), ("censored", _bool)
    ),
    "node_state": _table(("at_ms", _long), ("node", _int), ("state", _text), ("reason", _text)),
    "subscriptions": _table(
        ("subscriber", _int),
        ("id", _int),
        ("seq", _int),
        ("language", _int),
        ("created_ms", _long),
        ("expires_ms", _long),
        ("withdrawn_ms", _long),
        ("vector", _bytes),
        ("document", _text),
        nullable=("withdrawn_ms", "document"),
    ),
    "messages": _table(
        ("at_ms", _long),
        ("kind", _text),
        ("node", _int),
        ("peer", _int),
        ("type", _text),
        ("language", _int),
        ("origin", _int),
        ("number", _long),
        ("bytes", _int),
        ("hops", _int),
        ("age_ms", _long),
        ("reason", _text),
        nullable=("peer", "reason"),
    ),
    "filter_decisions": _table(
        ("at_ms", _long),
        ("node", _int),
        ("event_number", _int),
        ("event", _int),
        ("attributes", _bytes),
        ("values", _bytes),
        ("installed", _int),
        ("released", _int),
        ("degree_u8", _int),
        ("suppressed", _text),
        ("cost_us", _double),
        nullable=("suppressed",),
    ),
    "notifications": _table(
        ("at_ms", _long),
        ("origin", _int),
        ("number", _long),
        ("language", _int),
        ("event_number", _int),
        ("lifetime_ms", _long),
        ("vector", _bytes),
    ),
    "matches": _table(
        ("at_ms", _long),
        ("node", _int),
        ("origin", _int),
        ("number", _long),
        ("subscriber", _int),
        ("id", _int),
        ("seq", _int),
        ("degree_u8", _int),
        ("cost_us", _double),
    ),
    "buffers": _table(
        ("at_ms", _long),
        ("node", _int),
        ("subscriptions", _int),
        ("notifications", _int),
        ("notification_bytes", _long),
    ),
    "energy": _table(
        ("at_ms", _long),
        ("node", _int),
        ("idle_j", _double),
        ("radio_j", _double),
        ("compute_j", _double),
        ("battery_j", _double),
        nullable=("battery_j",),
    ),
}
