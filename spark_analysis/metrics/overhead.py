"""What the radio was used for, and how much of it a delivery cost."""

from collections.abc import Iterable
from typing import Any, Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.metrics.ordering import in_order

NOTIFICATION_TYPES: Final = ("notification", "notify")
"""The message types that carry a notification: from its publisher and between mediators, and to its
subscriber.
"""


def traffic(messages: DataFrame) -> DataFrame:
    """Count steps and bytes of all messages by kind, type and reason."""
    return (
        messages.groupBy("kind", "type", "reason")
        .agg(F.count("*").alias("messages"), F.sum("bytes").alias("bytes"))
        .transform(in_order, "kind", "type", "reason")
    )


def overhead(traffic: Iterable[Row], *, of_one_node: bool = False) -> dict[str, Any]:
    """Add up the few rows that `traffic` gives to the costs of the whole run.

    `overhead_ratio` is The ONE's: (relayed - delivered) / delivered, where relayed counts every transfer of
    a notification that came in whole, the last one to the subscriber included. `bytes_per_delivery` is
    harder: all bytes put on the air, of every message type and of transfers that were cut, for each
    delivery. Without deliveries both are None.

    What one real node saw (`of_one_node`) has no overhead ratio: it hears of deliveries far away and not of
    the transfers that led to them.
    """
    relayed = delivered = transmissions = bytes_on_air = 0
    for row in traffic:
        if row["kind"] == "sent":
            transmissions, bytes_on_air = transmissions + row["messages"], bytes_on_air + row["bytes"]
        elif row["kind"] == "delivered":
            delivered += row["messages"]
        elif row["kind"] == "received" and row["type"] in NOTIFICATION_TYPES:
            relayed += row["messages"]
    return {
        "relayed": relayed,
        "delivered": delivered,
        "transmissions": transmissions,
        "bytes_on_air": bytes_on_air,
        "overhead_ratio": (relayed - delivered) / delivered if delivered and not of_one_node else None,
        "bytes_per_delivery": bytes_on_air / delivered if delivered else None,
    }
