"""Renders Matplotlib figures as SVG for a page.

Figures are drawn with placeholder colours that become CSS variables, so that one figure serves a light page,
a dark one and paper. Ids are prefixed with the name of the figure, because a page has several. Text stays
text, so that it can be searched, read aloud and copied. Equal drawings give equal bytes.
"""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from spark_analysis.number_format import share_text, time_text

INK: Final = "#010101"
MUTED: Final = "#010102"
GRID: Final = "#010103"
ONE: Final = "#010104"
TWO: Final = "#010105"
THREE: Final = "#010106"
FOUR: Final = "#010107"

_VARIABLES: Final = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--grid)",
    ONE: "var(--one)",
    TWO: "var(--two)",
    THREE: "var(--three)",
    FOUR: "var(--four)",
}

STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "dens",
    "font.size": 12,
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "lines.linewidth": 2,
    "lines.solid_capstyle": "round",
}

WIDTH_IN: Final = 13.0
"""A full-width figure; its letters are then as large as the small text of the page."""
HALF_WIDTH_IN: Final = 6.2

_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "http://www.w3.org/1999/xlink"

_NEEDLESS_DIGITS: Final = re.compile(r"(\.\d\d)\d+")
"""Two decimals suffice for screens and printers; the rest would be half of the page."""

_TIME_TICKS_S: Final = (
    0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 21_600, 86_400, 604_800
)  # fmt: skip
_FINER_TICKS_S: Final = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800,
    3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800
)  # fmt: skip
"""For a small range of times."""


@contextmanager
def styled() -> Iterator[None]:
    """Apply the style of the report to everything that is drawn in the block."""
    with mpl.rc_context(STYLE):
        yield


@contextmanager
def half_chart_over_time(end_s: float) -> Iterator[tuple[Figure, Axes]]:
    """Yield a chart of half the page's width whose x axis is the time of the run."""
    with styled():
        chart, axes = canvas(3.0, HALF_WIDTH_IN)
        hours_axis(axes, end_s)
        yield chart, axes


def area(axes: Axes, hours: Sequence[float], values: Sequence[float], colour: str) -> None:
    """Draw a line with a light area below it."""
    axes.plot(hours, values, color=colour, linewidth=1.6)
    axes.fill_between(hours, values, color=colour, alpha=0.12, linewidth=0)
    axes.set_ylim(bottom=0)


def fates_chart(bars: Sequence[tuple[str, int]], total: int, name: str, title: str) -> str:
    """Draw one horizontal bar per fate, with its count and its share of the total."""
    with styled():
        chart, axes = canvas(0.5 + 0.3 * len(bars))
        colours = [ONE] + [TWO] * (len(bars) - 1)
        axes.barh([label for label, _ in bars], [count for _, count in bars], color=colours, height=0.62)
        for position, (_, count) in enumerate(bars):
            label = f"{count:,} ({share_text(count / total if total else None)})"
            axes.annotate(label, (count, position), (5, 0), textcoords="offset points", va="center")
        axes.invert_yaxis()
        axes.set_xlim(0, max(*(count for _, count in bars), 1) * 1.15)
        axes.xaxis.set_visible(False)
        axes.grid(visible=False)
        axes.spines["bottom"].set_visible(False)
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        description = "Bars: " + ", ".join(f"{label} {count}" for label, count in bars) + "."
        return svg(chart, name, title, description)


def canvas(height_in: float, width_in: float = WIDTH_IN) -> tuple[Figure, Axes]:
    """Return an empty figure and its axes."""
    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    return figure, figure.add_subplot()


def time_axis(axes: Axes, times: Sequence[float], room: float = 1.1) -> None:
    """Make the x axis logarithmic with time labels, up to `room` times the longest time."""
    axes.set_xscale("log")
    low, high = (min(times), max(times)) if times else (1, 3600)
    axes.set_xlim(low * 0.9, max(high, low * 10) * room)
    first, last = axes.get_xlim()
    coarse, fine = (
        [tick for tick in all_ticks if first <= tick <= last] for all_ticks in (_TIME_TICKS_S, _FINER_TICKS_S)
    )
    ticks = coarse if len(coarse) > 2 else fine
    axes.set_xticks(ticks, [time_text(tick) for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())


def hours_axis(axes: Axes, end_s: float) -> None:
    """Make the x axis the time of the run, in minutes for short runs."""
    minutes = end_s < 2 * 3600
    axes.set_xlim(0, max(end_s, 1) / 3600)
    if minutes:
        axes.xaxis.set_major_formatter(lambda hours, _position: f"{hours * 60:g}")
        step = next((n for n in (1, 2, 5, 10, 15, 20, 30) if end_s / 60 / n <= 8), 30)
        axes.set_xticks([n * step / 60 for n in range(int(end_s / 60 / step) + 1)])
    axes.set_xlabel("time (minutes)" if minutes else "time (hours)")


def share_axis(axes: Axes) -> None:
    """Make the y axis a percentage from 0 to 100 %."""
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])


def svg(figure: Figure, name: str, title: str, description: str) -> str:
    """Return the figure as an `<svg>` element for an HTML page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    root = ElementTree.fromstring(buffer.getvalue())
    for metadata in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(metadata)
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            element.set(key, _at_home(key, value, name))
    for attribute in ("width", "height"):
        del root.attrib[attribute]
    root.set("class", "wide" if figure.get_figwidth() > HALF_WIDTH_IN else "half")
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-desc")
    for tag, text in (("desc", description), ("title", title)):
        label = ElementTree.Element(f"{{{_SVG}}}{tag}", {"id": f"{name}-{tag}"})
        label.text = text
        root.insert(0, label)
    return ElementTree.tostring(root, encoding="unicode")


def _at_home(key: str, value: str, name: str) -> str:
    """Return an attribute's value with prefixed ids, CSS variables for colours, and the font of the page."""
    if key == "id":
        return f"{name}-{value}"
    if key == "d":
        return _NEEDLESS_DIGITS.sub(r"\1", value)
    if key == f"{{{_XLINK}}}href":
        return value.replace("#", f"#{name}-")
    value = value.replace("url(#", f"url(#{name}-")
    for stand_in, variable in _VARIABLES.items():
        value = value.replace(stand_in, variable)
    return re.sub(r"font: ([\d.]+px)[^;]*", r"font-size: \1", value)
