"""What the radio was used for. What it cost a delivery are metrics (`catalogue/members/`).

A *transfer* is a notification that arrived complete at another device and was new there: a row `replicated`,
`stored` or `delivered` whose peer is another device. It is counted by item, so it makes no difference in
which frame the item travelled, or with which others. One that the device had already is a *duplicate*. What
one engine of a device hands to another is neither.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.devices import Devices
from spark_analysis.metrics.ordering import in_order
from spark_analysis.radio_links import Numbers, RadioLinks
from spark_analysis.radio_use import RadioUse
from spark_analysis.summed_tables import Tables

NOTIFICATION_TYPES: Final = ("notification", "notify")
"""The message types that carry a notification: from its publisher and between mediators, and to its
subscriber.
"""
ARRIVED: Final = ("replicated", "stored", "delivered")
"""The steps of a notification that came complete and was new."""


def traffic(messages: DataFrame) -> DataFrame:
    """Count steps and bytes of all messages by kind, type and reason."""
    return (
        messages.groupBy("kind", "type", "reason")
        .agg(F.count("*").alias("messages"), F.sum("bytes").alias("bytes"))
        .transform(in_order, "kind", "type", "reason")
    )


@dataclass(frozen=True, slots=True)
class StepCount:
    """Counts the rows of `messages` that tell of transfers, deliveries and transmissions."""

    devices: Devices
    links: RadioLinks
    composed: tuple[int, ...]
    """The languages whose notifications are composites."""

    def __call__(self, batch: pa.RecordBatch) -> Mapping[str, float]:
        """Return the sums of some rows."""
        rows = pa.Table.from_batches([batch])
        of_notifications = rows.filter(pc.field("type").isin(NOTIFICATION_TYPES))
        sums: Counter[str] = Counter()
        for name, kinds in (("relayed", ARRIVED), ("duplicates", ("duplicate",))):
            came = of_notifications.filter(pc.field("kind").isin(kinds) & pc.field("peer").is_valid())
            sums[name] = int(self._between(came, "node", "peer").sum())
        shown = rows.filter(pc.field("kind") == "delivered")
        is_composite = np.isin(_numbers(shown, "language"), self.composed)
        sums["composite_deliveries"] = int(is_composite.sum())
        sums["delivered"] = shown.num_rows - sums["composite_deliveries"]
        sums["delivered_between_devices"] = int(self._between(shown, "node", "origin").sum())
        sent = rows.filter(pc.field("kind") == "sent")
        frames, octets = on_air(sent, "peer", self.links)
        sums["transmissions"], sums["frames"] = sent.num_rows, int(frames.sum())
        for type_ in map(str, pc.unique(sent["type"]).to_pylist()):
            sums[f"bytes {type_}"] = int(octets[_is(sent, type_)].sum())
        return sums

    def _between(self, rows: pa.Table, one: str, other: str) -> Any:
        here, there = (self.devices.of_all(_numbers(rows, name)) for name in (one, other))
        return here != there


@dataclass(frozen=True, slots=True)
class HopCount:
    """Counts the rows of `hops`: what relays sent, and what the first hop of a frame changes.

    A frame that goes beyond range is `sent` once in `messages`, to its destination. Its first hop is to
    another device, with whose radio it may take another number of frames: that difference is `first …`.
    """

    links: RadioLinks

    def __call__(self, batch: pa.RecordBatch) -> Mapping[str, float]:
        """Return the sums of some rows."""
        rows = pa.Table.from_batches([batch])
        rows = rows.filter(rows["sent_ms"].is_valid())
        relayed = rows.filter(~pc.field("hop").isin([1]))
        frames, octets = on_air(relayed, "peer", self.links)
        first = rows.filter(pc.field("hop").isin([1]))
        (first_frames, first_octets), (told_frames, told_octets) = (
            on_air(first, peer, self.links) for peer in ("peer", "destination")
        )
        return {
            "transmissions": relayed.num_rows,
            "frames": int(frames.sum()),
            "bytes": int(octets.sum()),
            "first frames": int(first_frames.sum() - told_frames.sum()),
            "first bytes": int(first_octets.sum() - told_octets.sum()),
        }


def on_air(rows: pa.Table, peer: str, links: RadioLinks) -> tuple[Numbers, Numbers]:
    """Return the frames of each message from `node` to `peer`, and its bytes with the overhead of these."""
    node, other, octets = (_numbers(rows, name) for name in ("node", peer, "bytes"))
    frames = links.frames(node, other, octets)
    return frames, octets + links.overhead(node, other, frames)


def radio_use(
    tables: Tables,
    devices: Devices,
    links: RadioLinks,
    composed: Sequence[int],
    *,
    of_one_node: bool = False,
) -> RadioUse:
    """Count what the radio was used for; bytes on the air are those of every message type, of what relays
    sent, and of transfers that were cut.
    """
    columns = ("kind", "type", "node", "peer", "origin", "language", "bytes")
    steps = tables.sums("messages", columns, StepCount(devices, links, tuple(composed)))
    of_hops = ("hop", "sent_ms", "node", "peer", "destination", "bytes")
    hops = tables.sums("hops", of_hops, HopCount(links))
    sent_bytes = {
        name.removeprefix("bytes "): int(octets)
        for name, octets in steps.items()
        if name.startswith("bytes ")
    }
    by_relays, first = int(hops.get("frames", 0)), int(hops.get("first frames", 0))
    relay_bytes, first_bytes = int(hops.get("bytes", 0)), int(hops.get("first bytes", 0))
    forwarded = int(hops.get("transmissions", 0))
    names = ("relayed", "duplicates", "delivered", "composite_deliveries", "delivered_between_devices")
    return RadioUse(
        **{name: int(steps.get(name, 0)) for name in names},
        transmissions=int(steps.get("transmissions", 0)) + forwarded,
        frames=int(steps.get("frames", 0)) + first + by_relays,
        bytes_on_air=sum(sent_bytes.values()) + first_bytes + relay_bytes,
        forwarded=forwarded,
        forwarded_frames=by_relays,
        forwarded_bytes=relay_bytes,
        of_one_node=of_one_node,
        sent_bytes=sent_bytes,
    )


def _numbers(rows: pa.Table, name: str) -> Numbers:
    column: Any = rows[name].cast(pa.int64())
    numbers: Numbers = pc.fill_null(column, -1).to_numpy()
    return numbers


def _is(rows: pa.Table, type_: str) -> Any:
    return pc.equal(rows["type"], pa.scalar(type_)).to_numpy()
