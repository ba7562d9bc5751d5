"""Panels as pictures: time beside counted work on linear axes, the paper's numbers in grey on their own axis.

On linear axes from zero a flat line is flat and a linear one is straight. The shaded band around a line is
its 95 % confidence interval. Lines whose names begin alike (`fnif: filtering`, `fnif: inserting`) have one
colour and differ in their dashes.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dens_experiments.panel import Panel, PaperFigure
from dens_experiments.tables import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS: Final = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6A3D9A", "#444444", "#8C6D31",
)  # fmt: skip
"""Okabe and Ito's, which colour-blind people can distinguish, and three more."""
MARKS: Final = "osD^vPX*h"
DASHES: Final = ("-", "--", ":")
GREY: Final = "#777777"
DARK: Final = "#555555"
ROOM: Final = 1.12
"""So much higher than the paper's numbers an axis is, that their labels have room."""
MARGIN: Final = 1.06
"""So much higher than its highest value an axis is, that marks are drawn whole."""
MOST_BAND: Final = 2.5
"""So much higher an axis may be for the sake of a band."""
MOST_TICKS: Final = 12
"""Along an axis; of more points every second one is named, or every third."""
MOST_AXES: Final = 3
"""Pairs of axes in a picture: those of times, and of as many kinds of counted work as there is room for; the
table has all of them."""


def draw(panel: Panel, path: Path) -> None:
    """Write a panel as a picture; the ending of the name says which kind."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(
        {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "dens"}
    ):
        is_bars = panel.form == "bars"
        groups = panel.groups or {"": tuple(panel.lines)}
        kinds = () if is_bars else panel.counted()[: MOST_AXES - len(groups)]
        wide = 2.2 if is_bars else 1.25
        ratios = [wide] * len(groups) + [1.0] * len(kinds)
        figure = Figure(figsize=(1.2 + 4.0 * sum(ratios), 4.8), layout="constrained")
        axes = figure.subplots(1, len(ratios), squeeze=False, width_ratios=ratios)[0]
        looks = _looks(panel)
        for place, (title, names) in enumerate(groups.items()):
            if is_bars:
                _bars(panel, axes[place])
            else:
                _lines(panel, names, looks, axes[place])
            axes[place].set_title(title, fontsize=10)
        for place, kind in enumerate(kinds, len(groups)):
            _counts(panel, kind, looks, axes[place])
        figure.suptitle(panel.title, fontsize=12, fontweight="bold")
        found = dict(_handles(axes))
        columns = 2 if len(ratios) == 1 and not is_bars else 3 if max(map(len, found)) > 16 else 5
        figure.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns, frameon=False)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=140)


def _handles(axes: Sequence["Axes"]) -> Iterator[tuple[str, Any]]:
    for one in axes:
        handles, labels = one.get_legend_handles_labels()
        yield from zip(labels, handles, strict=True)


def _looks(panel: Panel) -> dict[str, dict[str, Any]]:
    """Return colour, mark and dashes of every line."""
    heads = list(dict.fromkeys(name.partition(": ")[0] for name in panel.lines))
    tails = list(dict.fromkeys(name.partition(": ")[2] for name in panel.lines))
    return {
        name: {
            "color": COLOURS[heads.index(head) % len(COLOURS)],
            "marker": MARKS[heads.index(head) % len(MARKS)],
            "linestyle": DASHES[tails.index(tail) % len(DASHES)],
            "markersize": 7 - 0.45 * (heads.index(head) % len(MARKS)),
            "markerfacecolor": "none",
            "linewidth": 1.6,
        }
        for name in panel.lines
        for head, _, tail in [name.partition(": ")]
    }


def _lines(panel: Panel, names: Sequence[str], looks: Mapping[str, dict[str, Any]], axes: "Axes") -> None:
    places = [float(point) for point in panel.points]
    for name in names:
        found = panel.lines[name].intervals
        axes.plot(places, [one.mean for one in found], label=name, **looks[name])
        if all(one.low is not None for one in found):
            low, high = [one.low or 0.0 for one in found], [one.high or 0.0 for one in found]
            axes.fill_between(places, low, high, color=looks[name]["color"], alpha=0.15, linewidth=0)
    _axes(
        panel,
        axes,
        f"{panel.unit}, here",
        [one.mean for name in names for one in panel.lines[name].intervals],
    )
    drawn = [one for one in panel.paper_figures if _is_drawn(panel, one, names)]
    if drawn and panel.same_scale:
        top = axes.get_ylim()[1]
        axes.set_ylim(top=max([top, *(ROOM * one.high for one in drawn if one.high <= top)]))
        _paper(panel, drawn, axes)
    elif drawn:
        _paper(panel, drawn, _axis_of_theirs(drawn, axes))


def _is_drawn(panel: Panel, one: PaperFigure, names: Sequence[str]) -> bool:
    """Return whether a number of the paper can be drawn here: among the points, and not beside other
    lines.
    """
    is_within = one.at is None or one.at <= float(panel.points[-1])
    is_elsewhere = one.what in panel.lines and one.what not in names
    return one.is_drawn and one.unit in ("ms", panel.unit) and is_within and not is_elsewhere


def _counts(panel: Panel, kind: str, looks: Mapping[str, dict[str, Any]], axes: "Axes") -> None:
    drawn = {name: line.work[kind] for name, line in panel.lines.items() if kind in line.work}
    for name, counts in drawn.items():
        axes.plot([float(point) for point in panel.points], counts, **looks[name])
    _axes(panel, axes, "", [count for counts in drawn.values() for count in counts])
    axes.set_title(f"{kind}, counted", fontsize=10)


def _axes(panel: Panel, axes: "Axes", label: str, values: Sequence[float]) -> None:
    """Give axes their words and limits: from 0 to a little above all values. Where a band is far wider than
    the line is high it is cut; the table has it whole.
    """
    highest = max(values)
    places = [float(point) for point in panel.points]
    axes.set(xlabel=panel.along, ylabel=label)
    axes.set_xlim(0, 1.04 * max(places))
    if highest > 0:
        axes.set_ylim(0, min(max(axes.get_ylim()[1], MARGIN * highest), MOST_BAND * highest))
    else:
        axes.set_ylim(0, 1)
    shown = [place for place in places if place >= max(places) / 12]
    shown = shown[:: -(-len(shown) // MOST_TICKS)]
    axes.set_xticks(shown, labels=[f"{place:,.0f}" for place in shown])
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.grid(alpha=0.25)


def _axis_of_theirs(figures: Sequence[PaperFigure], axes: "Axes") -> "Axes":
    """Return an axis on the right, which begins at 0 too."""
    theirs = axes.twinx()
    theirs.spines["right"].set(visible=True, color=GREY)
    theirs.tick_params(axis="y", colors=GREY)
    theirs.set_ylabel("ms, the paper's", color=GREY)
    theirs.set_ylim(0, 1.6 * max(one.high for one in figures))
    return theirs


def _paper(panel: Panel, figures: Sequence[PaperFigure], theirs: "Axes") -> None:
    """Draw the paper's numbers over the same points; values far above our own are only stated."""
    last, top = float(panel.points[-1]), theirs.get_ylim()[1]
    far = [one for one in figures if one.low > 3 * top]
    for place, one in enumerate(far):
        words = f"paper, {one.place}: {one.what} {one.amount()}, far above"
        theirs.text(0.03, 0.95 - 0.06 * place, words, transform=theirs.transAxes, color=DARK, fontsize=8)
    everywhere = [one for one in figures if one not in far and one.at is None]
    for place, one in enumerate(everywhere):
        above = place % 2 == 0
        edge = one.high if above else one.low
        theirs.axhspan(one.low, one.high, color=GREY, alpha=0.2, linewidth=0)
        theirs.axhline(edge, color=GREY, linestyle=DASHES[1 + place % 2], linewidth=1.2)
        _label(theirs, f"paper, {one.place}: {one.what} {one.amount()}", 0.03 * last, edge, last, above)
    for at in dict.fromkeys(one.at for one in figures if one not in far and one.at is not None):
        here = sorted((one for one in figures if one.at == at), key=lambda one: one.high)
        theirs.plot([at] * len(here), [one.high for one in here], "*", markersize=12, color=GREY)
        if here[-1].high - here[0].high < top / 5:  # their labels would lie over each other
            named = ", ".join(f"{one.what} {one.amount()}" for one in here)
            _label(theirs, f"paper, {here[0].place}: {named}", at, here[-1].high, last, True)
            continue
        for one in here:
            _label(
                theirs, f"paper, {one.place}: {one.what} {one.amount()}", at, one.high, last, one is here[0]
            )


def _label(axes: "Axes", words: str, x: float, y: float, last: float, above: bool) -> None:
    axes.annotate(
        words,
        (x, y),
        xytext=(-8 if x > last / 2 else 0, 7 if above else -7),
        textcoords="offset points",
        ha="right" if x > last / 2 else "left",
        va="bottom" if above else "top",
        color=DARK,
        fontsize=8,
    )


def _bars(panel: Panel, axes: "Axes") -> None:
    lines = list(panel.lines.items())
    width = 0.86 / len(lines)
    for place, (name, line) in enumerate(lines):
        found = line.intervals
        means = [one.mean for one in found]
        left = [at + (place + 0.5) * width - 0.43 for at in range(len(panel.points))]
        axes.bar(left, means, 0.92 * width, color=COLOURS[place % len(COLOURS)], label=name)
        spread = [0.0 if one.high is None else one.high - one.mean for one in found]
        axes.errorbar(left, means, spread, fmt="none", ecolor="#222222", linewidth=0.8, capsize=1.5)
        for x, one in zip(left, found, strict=True):
            top = one.mean if one.high is None else one.high
            axes.annotate(
                number(float(f"{one.mean:.2g}")),
                (x, top),
                (0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=7,
            )
    axes.set_xticks(range(len(panel.points)), labels=[str(point) for point in panel.points])
    axes.set(xlabel=panel.along, ylabel=panel.unit)
    axes.grid(alpha=0.25, axis="y")
    axes.set_axisbelow(True)
