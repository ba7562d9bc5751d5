"""Columns of expected deliveries (`expected.py`), for Spark."""

from pyspark.sql.types import BooleanType, IntegerType, LongType, StructField, StructType

EXPECTED = StructType(
    [
        StructField("origin", IntegerType(), False),
        StructField("number", LongType(), False),
        StructField("event_ms", LongType(), False),
        StructField("lifetime_ms", LongType(), False),
        StructField("language", IntegerType(), False),
        StructField("subscriber", IntegerType(), False),
        StructField("id", IntegerType(), False),
        StructField("seq", IntegerType(), False),
        StructField("degree_u8", IntegerType(), False),
        StructField("first", BooleanType(), False),
        StructField("withdrawn_ms", LongType(), True),
    ]
)
"""One row per expected (notification, subscription revision).

`first` is true for one row of each pair (notification, subscriber), so that pairs can be counted without
deduplication. `withdrawn_ms` is when the last revision of the pair was withdrawn, null if one never was; it
is the same in all rows of a pair.
"""
