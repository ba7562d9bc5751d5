"""What matches said beyond their degree: the details that languages gave them."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

REVISION = ("subscriber", "id", "seq")


def details(matches: DataFrame, delivered: DataFrame) -> DataFrame:
    """Count, for each subscription revision, degree and detail, the notifications that had it and those of
    them that were delivered. Several nodes find the same match; it counts once. A match without a detail
    takes no part. `delivered` is what `delivery.deliveries` gives.
    """
    found = (
        matches.where(F.length("detail") > 0)
        .select("origin", "number", *REVISION, "degree_u8", "detail")
        .distinct()
    )
    arrived = delivered.select("origin", "number", "subscriber", "delivered_ms")
    return (
        found.join(arrived, ["origin", "number", "subscriber"], "left")
        .groupBy(*REVISION, "degree_u8", "detail")
        .agg(F.count("*").alias("notifications"), F.count("delivered_ms").alias("delivered"))
    )
