"""Asks who met whom, where and for how long, and in how many pieces the network was."""

from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.answers import Contacts, Meeting, Pieces, Times, Track
from spark_analysis.metrics import contacts as meeting
from spark_analysis.metrics.estimates import NOTHING, collected, estimates, life_table
from spark_analysis.metrics.partitions import pieces_over_time
from spark_analysis.metrics.places import meeting_places
from spark_analysis.number_format import seconds
from spark_analysis.outages import outages_of
from spark_analysis.queries.naming import bin_ms_of, name_of
from spark_analysis.run import Run
from spark_analysis.survival import Estimate

MOST_LEGS: Final = 20_000
"""So many legs are drawn on the map at most; beyond them every k-th node is shown."""
MOST_MEETINGS: Final = 4000
"""So many contacts are drawn on the map at most; beyond them about every k-th is shown."""


def contacts_of(run: Run, devices: int, end_ms: int) -> Contacts:
    """Ask how long pairs of devices were in range of each other and apart."""
    table = run.table("contacts").transform(meeting.until, end_ms)
    apart = table.transform(meeting.inter_contact_times, end_ms).transform(
        meeting.as_watched, "inter_contact"
    )
    times = table.transform(meeting.contact_times).transform(meeting.as_watched, "contact").unionByName(apart)
    curves = collected(times.transform(life_table).transform(estimates))
    met = table.transform(meeting.pairs_met).first()
    assert met is not None

    return Contacts(
        pairs=devices * (devices - 1) // 2,
        pairs_met=met["pairs_met"],
        contact=_times(curves.get("contact", NOTHING)),
        inter_contact=_times(curves.get("inter_contact", NOTHING)),
    )


def _times(found: Estimate) -> Times:
    return Times(
        known=found.known,
        censored=found.censored,
        mean_s=seconds(found.mean),
        median_s=seconds(found.median),
        watched_s=seconds(found.longest),
        survival=tuple((time_ms / 1000, share) for time_ms, share in found.survival),
    )


def pieces_of(run: Run, devices: int, end_ms: int) -> Pieces:
    """Ask in how many pieces the network was, and what time has joined."""
    every_ms = bin_ms_of(end_ms)
    outages = outages_of(run.small_table("node_state"), run.manifest.partitions, run.small_table("nodes"))
    rows = run.table("contacts").transform(pieces_over_time(devices, every_ms, end_ms, outages)).collect()
    rows.sort(key=lambda row: int(row["sample"]))
    return Pieces(
        every_s=every_ms / 1000,
        pairs=devices * (devices - 1),
        pieces=tuple(row["pieces"] for row in rows),
        largest=tuple(row["largest"] for row in rows),
        reachable=tuple(row["reachable"] for row in rows),
    )


def tracks_of(run: Run, nodes: Mapping[int, Mapping[str, Any]], end_ms: int) -> tuple[Track, ...]:
    """Return the paths of all nodes, or of every k-th one where all would be too many to draw."""
    every = -(-run.rows("motion") // MOST_LEGS) or 1
    shown = sorted(nodes)[::every]
    walked = run.table("motion").where(F.col("node").isin(shown) & (F.col("begin_ms") < end_ms))
    legs = walked.orderBy("node", "begin_ms").collect()
    points: dict[int, list[tuple[float, float]]] = {}
    for leg in legs:
        path = points.setdefault(leg["node"], [(leg["x0_m"], leg["y0_m"])])
        if (leg["x1_m"], leg["y1_m"]) != path[-1]:
            path.append((leg["x1_m"], leg["y1_m"]))
    return tuple(
        Track(name_of(nodes, node), nodes[node]["role"], tuple(path)) for node, path in points.items()
    )


def meetings_of(run: Run, end_ms: int) -> tuple[Meeting, ...]:
    """Return where nodes met, or about every k-th place where all would be too many to draw."""
    contacts = run.table("contacts").transform(meeting.until, end_ms)
    every = -(-run.rows("contacts") // MOST_MEETINGS)
    if every > 1:
        contacts = contacts.where(F.pmod(F.xxhash64("a", "b", "begin_ms"), F.lit(every)) == 0)
    rows = contacts.transform(meeting_places, run.table("motion")).orderBy("begin_ms", "a", "b").collect()
    return tuple(Meeting(row["x_m"], row["y_m"], row["time_ms"] / 1000) for row in rows)
