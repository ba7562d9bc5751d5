"""Use of the radio. The costs per delivery are metrics (`catalogue/members/`).

A *transfer* is a notification that arrived complete at another device and was new there: a row `replicated`,
`stored` or `delivered` whose peer is another device. Transfers are counted per item, regardless of the frame.
An item that the device already had is a *duplicate*. Exchange between the engines of a device is neither.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spark_analysis.devices import Devices
from spark_analysis.metrics.radio_links import Numbers, RadioLinks
from spark_analysis.radio_use import RadioUse
from spark_analysis.summed_tables import Tables

NOTIFICATION_TYPES: Final = ("notification", "notify")
"""Message types with a notification: from publishers and between mediators, and to subscribers."""
ARRIVED: Final = ("replicated", "stored", "delivered")
"""Steps of a notification that arrived complete and was new."""


@dataclass(frozen=True, slots=True)
class StepCount:
    """Counts transfers, deliveries and transmissions in rows of `messages`."""

    devices: Devices
    links: RadioLinks
    composed: tuple[int, ...]
    """The languages whose notifications are composites."""

    def __call__(self, batch: pa.RecordBatch) -> Mapping[str, float]:
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
    """Counts rows of `hops`: transmissions of relays, and the difference that first hops make.

    A multi-hop frame is `sent` once in `messages`, to its destination. Its first hop is to another device,
    whose radio may need another number of frames: the difference is `first …`.
    """

    links: RadioLinks

    def __call__(self, batch: pa.RecordBatch) -> Mapping[str, float]:
        rows = pa.Table.from_batches([batch])
        rows = rows.filter(rows["sent_ms"].is_valid())
        relayed = rows.filter(~pc.field("hop").isin([1]))
        frames, octets = on_air(relayed, "peer", self.links)
        first = rows.filter(pc.field("hop").isin([1]))
        (first_frames, first_octets), (direct_frames, direct_octets) = (
            on_air(first, peer, self.links) for peer in ("peer", "destination")
        )
        return {
            "transmissions": relayed.num_rows,
            "frames": int(frames.sum()),
            "bytes": int(octets.sum()),
            "first frames": int(first_frames.sum() - direct_frames.sum()),
            "first bytes": int(first_octets.sum() - direct_octets.sum()),
        }


def on_air(rows: pa.Table, peer: str, links: RadioLinks) -> tuple[Numbers, Numbers]:
    """Return the frames of each message from `node` to `peer`, and its bytes with frame overhead."""
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
    """Count the use of the radio. Bytes on the air include all message types, relays and interrupted
    transfers.
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
