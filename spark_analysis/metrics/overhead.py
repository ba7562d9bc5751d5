"""What the radio was used for, and how much of it a delivery cost."""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

NOTIFICATION_TYPES: Final = ("notification", "notify")
"""The message types that carry a notification: from its publisher and between mediators, and to its
subscriber.
"""


def traffic(messages: DataFrame) -> DataFrame:
    """Count steps and bytes of all messages by kind, type and reason."""
    return (
        messages.groupBy("kind", "type", "reason")
        .agg(F.count("*").alias("messages"), F.sum("bytes").alias("bytes"))
        .orderBy("kind", "type", "reason")
    )


def overhead(traffic: DataFrame) -> DataFrame:
    """Give one row with the costs of the whole run, from `traffic`.

    `overhead_ratio` is The ONE's: (relayed - delivered) / delivered, where relayed counts every transfer of
    a notification that came in whole, the last one to the subscriber included. `bytes_per_delivery` is
    harder: all bytes put on the air, of every message type and of transfers that were cut, for each
    delivery. Without deliveries both are null.
    """
    carries = F.col("type").isin(*NOTIFICATION_TYPES)
    sums = traffic.agg(
        _sum_where((F.col("kind") == "received") & carries, "messages").alias("relayed"),
        _sum_where(F.col("kind") == "delivered", "messages").alias("delivered"),
        _sum_where(F.col("kind") == "sent", "messages").alias("transmissions"),
        _sum_where(F.col("kind") == "sent", "bytes").alias("bytes_on_air"),
        _sum_where((F.col("kind") == "sent") & carries, "bytes").alias("notification_bytes_on_air"),
    )
    return sums.withColumns(
        {
            "overhead_ratio": F.try_divide(F.col("relayed") - F.col("delivered"), F.col("delivered")),
            "bytes_per_delivery": F.try_divide("bytes_on_air", "delivered"),
        }
    )


def _sum_where(condition: Column, column: str) -> Column:
    return F.coalesce(F.sum(F.when(condition, F.col(column))), F.lit(0))
