"""The trace tables as Spark schemas, derived from `dens/trace/schema.py`.

Reading with an explicit schema opens no file to infer one, gives an empty frame for a missing table and nulls
for columns of newer versions, and detects columns of the wrong type.
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
