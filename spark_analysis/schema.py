"""The tables of a trace as Spark reads them: its types, made of the one schema in `dens/trace/schema.py`.

Reading with a given schema means that no file is opened to guess one, that a table without any part is an
empty frame and not an error, that a column which an older version did not write is null, and that a column of
another type is noticed.
"""

from typing import Final

from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from dens.trace import schema
from dens.trace.tables import plain_schema

TABLES: Final[dict[str, StructType]] = {
    name: StructType(
        [StructField(field.name, from_arrow_type(field.type), field.nullable) for field in plain_schema(name)]
    )
    for name in schema.TABLES
}
