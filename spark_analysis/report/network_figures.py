"""Pictures of the network and of what nodes hold and use: from answers to an `<svg>` element."""

import math
from collections.abc import Callable, Sequence
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from spark_analysis.answers import Contacts, Energy, Holding, Meeting, Pieces, Times, Track
from spark_analysis.number_format import bytes_text, energy_text, median_text, number_text, share_text
from spark_analysis.report.drawing import (
    FOUR,
    HALF_WIDTH_IN,
    INK,
    MUTED,
    ONE,
    STYLE,
    THREE,
    TWO,
    WIDTH_IN,
    canvas,
    hours_axis,
    share_axis,
    svg,
    time_axis,
)

ROLE_COLOURS: Final = {"forwarder": MUTED, "mediator": ONE, "publisher": THREE, "subscriber": TWO}
"""In the order in which they are drawn: those who walk everywhere first, those who asked on top."""

DOTS: Final = ((10.0, 2.6), (120.0, 4.2), (math.inf, 6.5))
"""The dot of a contact up to so many seconds long, and its width."""


def contacts_figure(contacts: Contacts) -> str:
    """Draw the survival curves of contact and inter-contact times, both axes logarithmic."""
    with mpl.rc_context(STYLE):
        figure, axes = canvas(4.4)
        times = [s for kind in (contacts.contact, contacts.inter_contact) for s, _ in kind.survival]
        for kind, name, colour in (
            (contacts.contact, "in contact", ONE),
            (contacts.inter_contact, "apart", TWO),
        ):
            _survival_line(axes, kind, name, colour)
        time_axis(axes, times)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda share, _position: f"{share * 100:g} %")
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("time")
        axes.set_ylabel("share longer than this")
        if times:
            axes.legend(frameon=False, loc="lower left", labelcolor=INK)
        return svg(
            figure,
            "contacts",
            "How long nodes are in contact and apart",
            "Two falling curves: contacts last "
            f"{median_text(contacts.contact.median_s, contacts.contact.watched_s)} in the median, pairs are "
            f"apart for {median_text(contacts.inter_contact.median_s, contacts.inter_contact.watched_s)} in "
            "the median between two contacts.",
        )


def map_figure(tracks: Sequence[Track], meetings: Sequence[Meeting]) -> str:
    """Draw where the nodes went, and where they met: a larger dot for a longer contact."""
    with mpl.rc_context(STYLE):
        xs = [x for track in tracks for x, _ in track.points]
        ys = [y for track in tracks for _, y in track.points]
        width, height = (max(xs) - min(xs) or 1, max(ys) - min(ys) or 1) if xs else (4, 3)
        figure, axes = canvas(min(max(WIDTH_IN * height / width, 4), 8.5) + 0.5)
        faint = max(0.12, min(0.5, 600 / max(len(xs), 1)))
        for role, colour in ROLE_COLOURS.items():
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
            figure,
            "map",
            "Tracks of the nodes and where they met",
            f"A map with the paths of {len(tracks)} nodes over {width:.0f} by {height:.0f} metres, and "
            f"{len(meetings)} places where a contact began.",
        )


def pieces_figure(pieces: Pieces) -> str:
    """Draw in how many pieces the network was, and how large the largest one."""
    hours = [i * pieces.every_s / 3600 for i in range(len(pieces.pieces))]

    def draw(axes: Axes) -> None:
        axes.plot(hours, pieces.pieces, color=TWO, linewidth=1.2, label="pieces")
        axes.plot(hours, pieces.largest, color=ONE, linewidth=1.2, label="nodes in the largest")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=2, labelcolor=INK)

    return _over_time(
        draw,
        len(pieces.pieces) * pieces.every_s,
        "pieces",
        "Pieces of the network over time",
        f"Two lines: between {min(pieces.pieces, default=0)} and {max(pieces.pieces, default=0)} pieces; "
        f"the largest has up to {max(pieces.largest, default=0)} nodes.",
    )


def reach_figure(pieces: Pieces) -> str:
    """Draw which share of all pairs of nodes time had joined."""
    hours = [i * pieces.every_s / 3600 for i in range(len(pieces.reachable))]
    shares = [reached / max(pieces.pairs, 1) for reached in pieces.reachable]

    def draw(axes: Axes) -> None:
        _area(axes, hours, shares, THREE)
        share_axis(axes)
        axes.set_ylabel("ordered pairs")

    return _over_time(
        draw,
        len(pieces.pieces) * pieces.every_s,
        "reach",
        "Pairs of nodes that time had joined",
        f"A rising line that ends at {share_text(shares[-1] if shares else None)} of all ordered pairs.",
    )


def holding_figure(holding: Holding) -> str:
    """Draw how many copies of notifications all nodes together held."""
    hours = [(i + 1) * holding.bin_s / 3600 for i in range(len(holding.copies))]

    def draw(axes: Axes) -> None:
        _area(axes, hours, holding.copies, ONE)
        axes.set_ylabel("copies held")

    return _over_time(
        draw,
        len(holding.copies) * holding.bin_s,
        "holding",
        "Copies of notifications held over time",
        f"One line: up to {max(holding.copies, default=0)} copies, "
        f"{bytes_text(max(holding.bytes, default=0))}.",
    )


def degree_figure(holding: Holding) -> str:
    """Draw how many nodes had held a copy, for each notification made so far."""
    known = [
        ((i + 1) * holding.bin_s / 3600, degree)
        for i, degree in enumerate(holding.degree)
        if degree is not None
    ]

    def draw(axes: Axes) -> None:
        _area(axes, [hour for hour, _ in known], [degree for _, degree in known], FOUR)
        axes.set_ylabel("nodes for each")

    return _over_time(
        draw,
        len(holding.degree) * holding.bin_s,
        "degree",
        "Nodes that had held a copy, for each notification",
        f"One line that ends at {number_text(known[-1][1] if known else None)} nodes for each notification.",
    )


def _over_time(draw: Callable[[Axes], None], end_s: float, name: str, title: str, description: str) -> str:
    """Draw something in the frame of half a page that has the run's time below it."""
    with mpl.rc_context(STYLE):
        figure, axes = canvas(3.0, HALF_WIDTH_IN)
        draw(axes)
        hours_axis(axes, end_s)
        return svg(figure, name, title, description)


def _area(axes: Axes, hours: Sequence[float], values: Sequence[float], colour: str) -> None:
    """Draw a line with a faint area below it, from 0 on."""
    axes.plot(hours, values, color=colour, linewidth=1.6)
    axes.fill_between(hours, values, color=colour, alpha=0.12, linewidth=0)
    axes.set_ylim(bottom=0)


def energy_figure(energy: Energy) -> str:
    """Draw what all devices together had used, by what for."""
    with mpl.rc_context(STYLE):
        figure, axes = canvas(3.4)
        hours = [(i + 1) * energy.bin_s / 3600 for i in range(len(energy.idle_j))]
        lines = (
            ("being up", energy.idle_j, THREE),
            ("radio", energy.sent_j, ONE),
            ("computing", energy.computed_j, FOUR),
        )
        shown = [(name, line, colour) for name, line, colour in lines if line and line[-1] > 0]
        axes.stackplot(
            hours,
            [line for _, line, _ in shown] or [[0.0] * len(hours)],
            colors=[colour for _, _, colour in shown] or [ONE],
            alpha=0.75,
            linewidth=0,
            labels=[f"{name} ({energy_text(line[-1])})" for name, line, _ in shown],
        )
        axes.set_ylim(bottom=0)
        hours_axis(axes, len(energy.idle_j) * energy.bin_s)
        axes.yaxis.set_major_formatter(lambda joules, _position: energy_text(joules) if joules else "0")
        if shown:
            axes.legend(frameon=False, loc="upper left", labelcolor=INK)
        return svg(
            figure,
            "energy",
            "Energy that all devices together had used",
            "Stacked areas: " + ", ".join(f"{name} {energy_text(line[-1])}" for name, line, _ in shown) + ".",
        )


def _dots(axes: Axes, meetings: Sequence[Meeting]) -> None:
    """Draw a dot for each contact, in three sizes.

    All dots of a size are one path of points with round ends: thousands of elements would make a page that
    is slow to open.
    """
    strength = max(0.3, min(0.7, 300 / max(len(meetings), 1)))
    labelled = False
    for longest_s, width in DOTS:
        chosen = [one for one in meetings if _dot_class(one.time_s) == longest_s]
        if not chosen:
            continue
        line = axes.plot(
            [x for one in chosen for x in (one.x_m, one.x_m + 0.01, math.nan)],
            [y for one in chosen for y in (one.y_m, one.y_m, math.nan)],
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
    return next(longest_s for longest_s, _ in DOTS if time_s <= longest_s)


def _survival_line(axes: Axes, times: Times, name: str, colour: str) -> None:
    """Draw one curve as far as it is above 0, which has no place on a logarithmic axis."""
    points = [(s, share) for s, share in times.survival if share > 0]
    if points:
        label = f"{name} ({times.known:,} known, {times.censored:,} censored)"
        axes.plot(*zip(*points, strict=True), color=colour, drawstyle="steps-post", label=label)
