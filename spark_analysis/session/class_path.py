"""Puts the jars with most classes first on Java's class path.

Spark puts its 280 jars on the class path in the order of a folder, and Java searches them one by one. Nearly
all of the ten thousand classes that a report loads are in a few jars: listed first, they are found at once.
"""

import os
from pathlib import Path
from typing import Final

from pyspark.find_spark_home import _find_spark_home

_FREQUENT_JARS: Final = (
    "spark-catalyst_",
    "spark-core_",
    "scala-library-",
    "spark-sql_",
    "scala-reflect-",
    "spark-sql-api_",
    "log4j-core-",
    "hadoop-client-api-",
    "jackson-databind-",
    "arrow-vector-",
    "parquet-encoding-",
    "spark-config_",
    "parquet-jackson-",
    "parquet-column-",
    "spark-network-common_",
    "netty-common-",
    "parquet-format-structures-",
    "hadoop-client-runtime-",
    "antlr4-runtime-",
    "netty-transport-",
    "jackson-module-scala_",
    "spark-common-utils_",
    "parquet-hadoop-",
)
"""Prefixes of the names of these jars, by the number of classes that a report loads from each."""


def frequent_jars() -> str:
    """Return the class path of the frequently used jars; empty if Spark keeps its jars elsewhere."""
    jars = Path(_find_spark_home()) / "jars"
    found = (jar for name in _FREQUENT_JARS for jar in sorted(jars.glob(f"{name}*.jar")))
    return os.pathsep.join(map(str, found))
