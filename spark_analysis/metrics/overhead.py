"""What the radio was used for. What it cost a delivery are metrics (`catalogue/members/`)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame
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


@dataclass(frozen=True, slots=True)
class RadioUse:
    """What was on the air: transfers of notifications that came in whole, deliveries, everything sent, and
    what of that relays sent for others (`forwarded`).

    What one real node saw (`of_one_node`) tells of deliveries far away and not of the transfers before them.
    """

    relayed: int
    delivered: int
    transmissions: int
    bytes_on_air: int
    of_one_node: bool = False
    forwarded: int = 0


def relayed_hops(hops: DataFrame) -> DataFrame:
    """Count the frames and bytes that others than their source sent, in one row."""
    return hops.where((F.col("hop") > 1) & F.col("sent_ms").isNotNull()).agg(
        F.count("*").alias("frames"), F.coalesce(F.sum("bytes"), F.lit(0)).alias("bytes")
    )


def radio_use(
    traffic: Iterable[Any], *, of_one_node: bool = False, forwarded: tuple[int, int] = (0, 0)
) -> RadioUse:
    """Add up rows of kind, type, messages and bytes, as `traffic` has them, and the frames and bytes that
    relays sent, which messages do not tell of.

    `relayed` counts every transfer of a notification that came in whole, the last one to the subscriber
    included; bytes on the air are those of every message type and of transfers that were cut.
    """
    relayed = delivered = 0
    transmissions, bytes_on_air = forwarded
    for row in traffic:
        if row["kind"] == "sent":
            transmissions, bytes_on_air = transmissions + row["messages"], bytes_on_air + row["bytes"]
        elif row["kind"] == "delivered":
            delivered += row["messages"]
        elif row["kind"] == "received" and row["type"] in NOTIFICATION_TYPES:
            relayed += row["messages"]
    return RadioUse(relayed, delivered, transmissions, bytes_on_air, of_one_node, forwarded[0])
