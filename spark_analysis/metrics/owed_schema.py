"""Columns of the pairs that deliveries are measured against (`owed.py`), for Spark."""

from pyspark.sql.types import BooleanType, IntegerType, LongType, StructField, StructType

OWED = StructType(
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
"""One row for each (notification, subscription revision) that is owed.

`first` is true of one row of each pair (notification, subscriber), so that counting pairs needs no search
for those that are there twice. `withdrawn_ms` is when the last revision of the pair was withdrawn, null where
one of them never was: all rows of a pair share it.
"""
