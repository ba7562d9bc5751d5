"""The pictures of a report, one function each: from answers to an `<svg>` element."""

from collections.abc import Sequence
from typing import Final

import matplotlib as mpl

from spark_analysis.answers import (
    Composites,
    Delay,
    Filtering,
    GroundTruth,
    Served,
    Timeline,
    TypeTraffic,
)
from spark_analysis.number_format import bytes_text, median_text, share_text, time_text
from spark_analysis.report.drawing import (
    FOUR,
    HALF_WIDTH_IN,
    INK,
    ONE,
    STYLE,
    THREE,
    TWO,
    canvas,
    hours_axis,
    share_axis,
    svg,
    time_axis,
)

FATE_TEXTS: Final = {
    "delivered": "delivered",
    "under_way": "still under way",
    "withdrawn": "subscription withdrawn before",
    "too_late": "carried, too late",
    "dropped": "carried, every copy given up",
    "never_carried": "left its filter, never carried",
    "held_back": "held back by hysteresis or interval",
    "not_asked_for_this": "nothing that was installed at its source asked for it",
    "not_asked": "nothing was installed at its source yet",
}
"""The fates of `metrics/truth.py` in words."""
COMPOSITE_FATE_TEXTS: Final = {
    "delivered": "delivered",
    "under_way": "made, still under way",
    "too_late": "made, too late",
    "dropped": "made, every copy given up",
    "never_met": "parts carried, never by one node",
    "not_carried": "a part never carried",
    "not_released": "a part never left its source",
}
"""The fates of `metrics/composites.py` in words."""


def delay_figure(delay: Delay, total: Served) -> str:
    """Draw the estimated share of all owed pairs that arrive within a given time of their event."""
    with mpl.rc_context(STYLE):
        figure, axes = canvas(4.4)
        shortest_s = max(delay.watched_s or 0, 1) / 1000  # three decades; what was faster stands at the left
        reached = [(time_s, i / 100) for i, time_s in enumerate(delay.within_s) if time_s is not None]
        if reached and delay.watched_s is not None:
            reached.append((delay.watched_s, reached[-1][1] if delay.estimate is None else delay.estimate))
        times, shares = [max(time_s, shortest_s) for time_s, _ in reached], [share for _, share in reached]
        axes.plot(times, shares, color=ONE, drawstyle="steps-post")
        axes.fill_between(times, shares, step="post", color=ONE, alpha=0.12, linewidth=0)
        axes.axhline(total.ratio or 0, color=TWO, linewidth=1.2, linestyle=(0, (4, 3)))
        axes.text(
            0.01,
            (total.ratio or 0) + 0.02,
            f"{share_text(total.ratio)} delivered by the end of the run, {total.open:,} pairs still open",
            transform=axes.get_yaxis_transform(),
            color=TWO,
            va="bottom",
        )
        if delay.median_s is not None:
            axes.plot([max(delay.median_s, shortest_s)], [0.5], "o", color=ONE, markersize=6)
            axes.annotate(
                f"median: {time_text(delay.median_s)}",
                (max(delay.median_s, shortest_s), 0.5),
                (10, -6),
                textcoords="offset points",
                va="top",
            )
        time_axis(axes, times, room=1.6)
        share_axis(axes)
        axes.set_xlabel("time from the event to the application")
        axes.set_ylabel("share of owed pairs that arrive")
        return svg(
            figure,
            "delay",
            "How long deliveries took",
            "A rising curve, the Kaplan–Meier estimate of the share of owed pairs that arrive within a time; "
            f"it ends at {share_text(delay.estimate)}. {share_text(total.ratio)} were delivered by the end "
            f"of the run, {total.open} pairs were still open. The median is "
            f"{median_text(delay.median_s, delay.watched_s)}.",
        )


def timeline_figure(timeline: Timeline) -> str:
    """Draw how many pairs had become owed, and how many had been delivered, as the run went on."""
    with mpl.rc_context(STYLE):
        figure, axes = canvas(3.8)
        hours = [i * timeline.bin_s / 3600 for i in range(len(timeline.owed) + 1)]
        became_owed, arrived = _running(timeline.owed), _running(timeline.delivered)
        axes.plot(hours, became_owed, color=TWO, label=f"owed ({became_owed[-1]:,})")
        axes.plot(hours, arrived, color=ONE, label=f"delivered ({arrived[-1]:,})")
        axes.fill_between(hours, arrived, became_owed, color=TWO, alpha=0.10, linewidth=0)
        axes.fill_between(hours, arrived, color=ONE, alpha=0.12, linewidth=0)
        axes.set_ylim(bottom=0)
        axes.margins(y=0.12)
        axes.legend(frameon=False, loc="upper left", labelcolor=INK)
        hours_axis(axes, timeline.bin_s * len(timeline.owed))
        axes.set_ylabel("pairs so far")
        return svg(
            figure,
            "timeline",
            "Owed and delivered over the run",
            f"Two rising lines: {became_owed[-1]} pairs owed by the end of the run, {arrived[-1]} delivered.",
        )


def filtering_figure(filtering: Filtering) -> str:
    """Draw what became of the readings as one bar."""
    judged_only = filtering.kept - filtering.unasked - filtering.suppressed
    pieces = [
        (filtering.released, "released", ONE),
        (judged_only, "kept: nothing installed asked for it", THREE),
        (filtering.unasked, "kept: nothing was installed yet", FOUR),
        (filtering.suppressed, "held back by hysteresis or interval", TWO),
    ]
    with mpl.rc_context(STYLE):
        figure, axes = canvas(1.9, HALF_WIDTH_IN)
        left = 0
        for count, name, colour in pieces:
            if count:
                axes.barh([0], [count], left=left, height=0.6, color=colour, label=f"{name} ({count:,})")
                left += count
        axes.set_xlim(0, max(left, 1))
        axes.set_yticks([])
        axes.grid(visible=False)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("readings")
        if left:
            axes.legend(
                frameon=False,
                loc="lower left",
                bbox_to_anchor=(-0.01, 0.95),
                labelcolor=INK,
                handlelength=1,
            )
        return svg(
            figure,
            "filtering",
            "What the watchdogs did with the readings",
            "One bar: " + ", ".join(f"{name} {count}" for count, name, _ in pieces if count) + ".",
        )


def truth_figure(truth: GroundTruth) -> str:
    """Draw what became of everything that should have been told, one bar a fate, best first."""
    bars = [(text, getattr(truth, fate)) for fate, text in FATE_TEXTS.items()]
    return _fates_figure(bars, truth.wanted, "truth", "What became of everything that should have been told")


def composites_figure(composites: Composites) -> str:
    """Draw what became of every composite that was owed, one bar a fate, best first."""
    bars = [(text, getattr(composites, fate)) for fate, text in COMPOSITE_FATE_TEXTS.items()]
    return _fates_figure(bars, composites.owed, "composites", "What became of every composite that was owed")


def _fates_figure(bars: Sequence[tuple[str, int]], all: int, name: str, title: str) -> str:
    with mpl.rc_context(STYLE):
        figure, axes = canvas(0.5 + 0.3 * len(bars))
        colours = [ONE] + [TWO] * (len(bars) - 1)
        axes.barh([name for name, _ in bars], [count for _, count in bars], color=colours, height=0.62)
        for position, (_, count) in enumerate(bars):
            share = share_text(count / all if all else None)
            label = f"{count:,} ({share})"
            axes.annotate(label, (count, position), (5, 0), textcoords="offset points", va="center")
        axes.invert_yaxis()
        axes.set_xlim(0, max(*(count for _, count in bars), 1) * 1.15)
        axes.xaxis.set_visible(False)
        axes.grid(visible=False)
        axes.spines["bottom"].set_visible(False)
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        return svg(
            figure,
            name,
            title,
            "Bars: " + ", ".join(f"{name} {count}" for name, count in bars) + ".",
        )


def traffic_figure(by_type: Sequence[TypeTraffic]) -> str:
    """Draw the bytes on the air by message type."""
    with mpl.rc_context(STYLE):
        figure, axes = canvas(0.5 + 0.3 * max(len(by_type), 1), HALF_WIDTH_IN)
        names = [traffic.type for traffic in by_type]
        sizes = [traffic.sent_bytes for traffic in by_type]
        axes.barh(names, sizes, color=ONE, height=0.62)
        for position, size in enumerate(sizes):
            axes.annotate(bytes_text(size), (size, position), (5, 0), textcoords="offset points", va="center")
        axes.invert_yaxis()
        axes.set_xlim(0, max(sizes, default=1) * 1.15)
        axes.xaxis.set_visible(False)
        axes.grid(visible=False)
        axes.spines["bottom"].set_visible(False)
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        return svg(
            figure,
            "traffic",
            "Bytes on the air by message type",
            "Bars: " + ", ".join(f"{t.type} {bytes_text(t.sent_bytes)}" for t in by_type) + ".",
        )


def _running(counts: Sequence[int]) -> list[int]:
    sums = [0]
    for count in counts:
        sums.append(sums[-1] + count)
    return sums
