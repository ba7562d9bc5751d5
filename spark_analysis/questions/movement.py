"""Movement: the tracks of the nodes, and where contacts began."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.answers import Analysis
from spark_analysis.question import Question, RunContext, Section, name_of
from spark_analysis.questions.contacts import until
from spark_analysis.rendering.html import figure, paragraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LEGS: Final = 20_000
"""Maximum legs on the map; beyond it every k-th node is shown."""
MOST_MEETINGS: Final = 4000
"""Maximum contacts on the map; beyond it a sample is shown."""

_DOTS: Final = ((10.0, 2.6), (120.0, 4.2), (math.inf, 6.5))
"""(longest contact in seconds, width of its dot)."""


@dataclass(frozen=True, slots=True)
class Track:
    """The path of one node in metres."""

    node: str
    role: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where a contact began, in metres, and how long it lasted."""

    x_m: float
    y_m: float
    time_s: float


def meeting_places(contacts: DataFrame, motion: DataFrame) -> DataFrame:
    """Return one row per contact: the point midway between its two nodes when it began, and its length.

    Contacts of nodes without motion data are skipped.
    """
    begun = contacts.select("a", "b", "begin_ms", (F.col("end_ms") - F.col("begin_ms")).alias("time_ms"))
    placed = begun.transform(_placed, motion, "a").transform(_placed, motion, "b")
    return placed.select(
        "a",
        "b",
        "begin_ms",
        "time_ms",
        ((F.col("a_x_m") + F.col("b_x_m")) / 2).alias("x_m"),
        ((F.col("a_y_m") + F.col("b_y_m")) / 2).alias("y_m"),
    )


def _placed(moments: DataFrame, motion: DataFrame, who: str) -> DataFrame:
    """Add the position of the node in column `who` at `begin_ms`."""
    legs = motion.select(
        F.col("node").alias(who),
        F.col("begin_ms").alias("leg_begin_ms"),
        F.col("end_ms").alias("leg_end_ms"),
        *("x0_m", "y0_m", "x1_m", "y1_m"),
    )
    during = (F.col("leg_begin_ms") <= F.col("begin_ms")) & (F.col("begin_ms") < F.col("leg_end_ms"))
    return (
        moments.join(legs, who)
        .where(during)
        .withColumns({f"{who}_{axis}_m": _at_begin(axis) for axis in ("x", "y")})
        .drop("leg_begin_ms", "leg_end_ms", "x0_m", "y0_m", "x1_m", "y1_m")
    )


def _at_begin(axis: str) -> Column:
    walked = (F.col("begin_ms") - F.col("leg_begin_ms")) / (F.col("leg_end_ms") - F.col("leg_begin_ms"))
    begin, end = F.col(f"{axis}0_m"), F.col(f"{axis}1_m")
    return begin + (end - begin) * walked


def collect_tracks(context: RunContext) -> tuple[Track, ...]:
    """Return the tracks of all nodes, or of every k-th one if there are too many to draw."""
    run, nodes = context.run, context.nodes
    every = -(-run.rows("motion") // MOST_LEGS) or 1
    shown = sorted(nodes)[::every]
    walked = run.table("motion").where(F.col("node").isin(shown) & (F.col("begin_ms") < context.end_ms))
    points: dict[int, list[tuple[float, float]]] = {}
    for leg in walked.orderBy("node", "begin_ms").collect():
        path = points.setdefault(leg["node"], [(leg["x0_m"], leg["y0_m"])])
        if (leg["x1_m"], leg["y1_m"]) != path[-1]:
            path.append((leg["x1_m"], leg["y1_m"]))
    return tuple(
        Track(name_of(nodes, node), nodes[node]["role"], tuple(path)) for node, path in points.items()
    )


def collect_meetings(context: RunContext) -> tuple[Meeting, ...]:
    """Return where contacts began, or a sample of about every k-th if there are too many to draw."""
    run = context.run
    contacts = run.table("contacts").transform(until, context.end_ms)
    every = -(-run.rows("contacts") // MOST_MEETINGS)
    if every > 1:
        contacts = contacts.where(F.pmod(F.xxhash64("a", "b", "begin_ms"), F.lit(every)) == 0)
    rows = contacts.transform(meeting_places, run.table("motion")).orderBy("begin_ms", "a", "b").collect()
    return tuple(Meeting(row["x_m"], row["y_m"], row["time_ms"] / 1000) for row in rows)


def sections(tracks: tuple[Track, ...], analysis: Analysis) -> Iterable[Section]:
    if tracks:
        yield Section(
            place=90,
            id="map",
            title="Map",
            html=paragraph(map_text(analysis)) + figure(_figure(tracks, analysis.meetings)),
        )


def map_text(analysis: Analysis) -> str:
    devices = analysis.run.devices
    shown, met = len(analysis.tracks), analysis.contacts.contact.known + analysis.contacts.contact.censored
    whose = "all devices" if shown >= devices else f"{shown} of the {devices} devices"
    contacts = (
        "every contact"
        if len(analysis.meetings) >= met
        else f"{len(analysis.meetings):,} of {met:,} contacts"
    )
    return (
        f"Tracks of {whose}; the dot at the end of a track is its start. Violet dots show where "
        f"{contacts} began; larger dots are longer contacts."
    )


def _figure(tracks: Sequence[Track], meetings: Sequence[Meeting]) -> str:
    """Draw the tracks of the nodes and where contacts began, with larger dots for longer contacts."""
    from spark_analysis.rendering.drawing import INK, MUTED, ONE, THREE, TWO, WIDTH_IN, canvas, styled, svg

    colours = {
        "forwarder": MUTED,
        "mediator": ONE,
        "publisher": THREE,
        "subscriber": TWO,
    }  # drawn in this order
    with styled():
        xs = [x for track in tracks for x, _ in track.points]
        ys = [y for track in tracks for _, y in track.points]
        width, height = (max(xs) - min(xs) or 1, max(ys) - min(ys) or 1) if xs else (4, 3)
        chart, axes = canvas(min(max(WIDTH_IN * height / width, 4), 8.5) + 0.5)
        faint = max(0.12, min(0.5, 600 / max(len(xs), 1)))
        for role, colour in colours.items():
            of_role = [track for track in tracks if track.role == role]
            for track in of_role:
                axes.plot(
                    *zip(*track.points, strict=True), color=colour, linewidth=0.7, alpha=faint, zorder=1
                )
                axes.plot(*track.points[0], "o", color=colour, markersize=6, zorder=4)
            if of_role:
                axes.plot([], [], "o-", color=colour, markersize=5, label=f"{role} ({len(of_role)})")
        _dots(axes, meetings)
        axes.set_aspect("equal")
        axes.set_xlabel("metres")
        axes.set_ylabel("metres")
        if tracks:
            axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=4, labelcolor=INK)
        return svg(
            chart,
            "map",
            "Tracks of the nodes, and places where contacts began",
            f"A map with the paths of {len(tracks)} nodes over {width:.0f} by {height:.0f} metres, and "
            f"{len(meetings)} places where a contact began.",
        )


def _dots(axes: "Axes", meetings: Sequence[Meeting]) -> None:
    """Draw one dot per contact, in three sizes.

    All dots of a size are one path with round caps: thousands of elements would make the page slow.
    """
    from spark_analysis.rendering.drawing import FOUR

    strength = max(0.3, min(0.7, 300 / max(len(meetings), 1)))
    labelled = False
    for longest_s, width in _DOTS:
        chosen = [meeting for meeting in meetings if _dot_class(meeting.time_s) == longest_s]
        if not chosen:
            continue
        line = axes.plot(
            [x for meeting in chosen for x in (meeting.x_m, meeting.x_m + 0.01, math.nan)],
            [y for meeting in chosen for y in (meeting.y_m, meeting.y_m, math.nan)],
            color=FOUR,
            linewidth=width,
            alpha=strength,
            solid_capstyle="round",
            zorder=3,
        )[0]
        line.get_path().should_simplify = False
        if not labelled:
            axes.plot([], [], "o", color=FOUR, markersize=5, label=f"contact ({len(meetings):,})")
            labelled = True


def _dot_class(time_s: float) -> float:
    return next(longest_s for longest_s, _ in _DOTS if time_s <= longest_s)


TRACKS: Final = Question(name="tracks", place=150, collect=collect_tracks, sections=sections, document=None)
MEETINGS: Final = Question(name="meetings", place=160, collect=collect_meetings, document=None)
