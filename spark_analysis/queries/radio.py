"""Asks what the radio was used for."""

from typing import Final

from spark_analysis.answers import GivenUp, Overhead, TypeTraffic
from spark_analysis.metrics.overhead import radio_use, relayed_hops, traffic
from spark_analysis.run import Run

_GIVEN_UP: Final = ("lost", "dropped", "refused", "expired", "quarantined")


def overhead_of(run: Run) -> Overhead:
    """Ask what was sent, and what was given up."""
    rows = run.table("messages").transform(traffic).collect()
    sent = {row["type"]: row for row in rows if row["kind"] == "sent"}
    lost: dict[str, int] = {}
    for row in rows:
        if row["kind"] == "lost":
            lost[row["type"]] = lost.get(row["type"], 0) + row["messages"]
    hops = run.table("hops").transform(relayed_hops).collect()[0]
    use = radio_use(rows, forwarded=(hops["frames"], hops["bytes"]))
    return Overhead(
        relayed=use.relayed,
        delivered=use.delivered,
        transmissions=use.transmissions,
        bytes_on_air=use.bytes_on_air,
        forwarded=use.forwarded,
        by_type=tuple(
            TypeTraffic(type_, row["messages"], row["bytes"], lost.get(type_, 0))
            for type_, row in sorted(sent.items(), key=lambda item: (-item[1]["bytes"], item[0]))
        ),
        given_up=tuple(
            GivenUp(row["kind"], row["type"], row["reason"] or "no reason given", row["messages"])
            for row in sorted(rows, key=lambda row: -row["messages"])
            if row["kind"] in _GIVEN_UP
        ),
    )
