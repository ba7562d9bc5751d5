"""Which of Spark's jars Java looks into first.

Spark puts all its jars, 280 of them, on the class path in the order of a folder, and Java looks for a class
in one after the other. Nearly all of the ten thousand that a report loads come from a few: named first, they
are found at once.
"""

import os
from pathlib import Path
from typing import Final

from pyspark.find_spark_home import _find_spark_home

_OFTEN_NEEDED: Final = (
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
"""How the names of these jars begin, by the number of classes that a report takes from each."""


def often_needed_jars() -> str:
    """Return the class path of the jars that most classes come from; of a Spark that keeps them elsewhere it
    is empty.
    """
    jars = Path(_find_spark_home()) / "jars"
    found = (jar for name in _OFTEN_NEEDED for jar in sorted(jars.glob(f"{name}*.jar")))
    return os.pathsep.join(map(str, found))
