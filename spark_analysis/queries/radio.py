"""Asks what the radio was used for."""

from typing import Final

from spark_analysis.answers import GivenUp, Overhead, TypeTraffic
from spark_analysis.devices import Devices
from spark_analysis.languages import languages_of
from spark_analysis.metrics.overhead import radio_use, traffic
from spark_analysis.queries.metrics import SparkTables
from spark_analysis.radio_links import radio_links
from spark_analysis.radio_use import RadioUse
from spark_analysis.run import Run

_GIVEN_UP: Final = ("lost", "dropped", "refused", "expired", "quarantined", "undecided")


def radio_use_of(run: Run, devices: Devices) -> RadioUse:
    """Ask for transfers, deliveries and everything that was sent."""
    return radio_use(
        SparkTables(run),
        devices,
        radio_links(run.manifest, run.small_table("nodes")),
        languages_of(run.manifest).composed,
        of_one_node=run.manifest.node is not None,
    )


def overhead_of(run: Run, use: RadioUse) -> Overhead:
    """Ask what was sent of each type, and what was given up."""
    rows = run.table("messages").transform(traffic).collect()
    sent = {row["type"]: row["messages"] for row in rows if row["kind"] == "sent"}
    lost: dict[str, int] = {}
    for row in rows:
        if row["kind"] == "lost":
            lost[row["type"]] = lost.get(row["type"], 0) + row["messages"]
    octets = use.sent_bytes
    return Overhead(
        relayed=use.relayed,
        delivered=use.delivered,
        transmissions=use.transmissions,
        bytes_on_air=use.bytes_on_air,
        forwarded=use.forwarded,
        by_type=tuple(
            TypeTraffic(type_, messages, octets[type_], lost.get(type_, 0))
            for type_, messages in sorted(sent.items(), key=lambda item: (-octets[item[0]], item[0]))
        ),
        given_up=tuple(
            GivenUp(row["kind"], row["type"], row["reason"] or "no reason given", row["messages"])
            for row in sorted(rows, key=lambda row: -row["messages"])
            if row["kind"] in _GIVEN_UP
        ),
        duplicates=use.duplicates,
        composite_deliveries=use.composite_deliveries,
        deliveries=use.deliveries,
        delivered_between_devices=use.delivered_between_devices,
        frames=use.frames,
        forwarded_frames=use.forwarded_frames,
        forwarded_bytes=use.forwarded_bytes,
    )
