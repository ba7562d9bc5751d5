"""Panels as text: Markdown for people, CSV with a row for every value for programs."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from dens_experiments.panel import Panel
from spark_analysis.interval import Interval


def number(value: float) -> str:
    """Return a number with three digits that count, never as a power of ten."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"


def listed(values: Mapping[str, float], unit: str) -> str:
    """Return named numbers in one line."""
    return ", ".join(f"{name} {number(value)}" for name, value in values.items()) + f" {unit}"


def measured(one: Interval) -> str:
    """Return a mean and half the width of its interval."""
    if one.low is None or one.high is None:
        return number(one.mean)
    return f"{number(one.mean)} ± {number(one.high - one.mean)}"


def markdown(panel: Panel) -> str:
    """Return everything that a panel says: values, counted work, the paper's numbers, and what holds."""
    parts = [f"**{panel.title}** ({panel.unit}). Paper: {panel.paper}"]
    if panel.setting:
        parts.append("; ".join(f"{key} {value}" for key, value in panel.setting.items()) + ".")
    points = [str(point) for point in panel.points]
    parts.append(
        _table(
            [panel.along, *points],
            ([name, *map(measured, line.intervals)] for name, line in panel.lines.items()),
        )
    )
    if panel.counted():
        rows = [
            [f"{name}: {kind}", *map(number, line.work[kind])]
            for kind in panel.counted()
            for name, line in panel.lines.items()
            if kind in line.work
        ]
        parts.append(_table([panel.values_unit or "counted", *points], rows))
    if panel.paper_figures:
        rows = [
            [
                one.what,
                one.amount(),
                "not stated" if one.at is None else f"{one.at:,}",
                one.place,
                one.sentence,
            ]
            for one in panel.paper_figures
        ]
        parts.append(_table(["the paper's numbers", "", panel.along, "where", "source"], rows, 0))
    if panel.shapes:
        shapes = [
            [one.paper, one.here, one.verdict + (f": {one.why}" if one.why else "")] for one in panel.shapes
        ]
        parts.append(_table(["the paper", "here", "verdict"], shapes, 0))
    parts += [f"- {remark}" for remark in panel.remarks]
    return "\n\n".join(parts)


def comma_separated(panel: Panel) -> str:
    """Return every value as a row: line, point, seed by its place, what it is, and the value."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["line", panel.along.replace(" ", "_"), "what", "sample", "value"])
    for name, line in panel.lines.items():
        for place, point in enumerate(panel.points):
            for sample, value in enumerate(line.samples[place], 1):
                rows.writerow([name, point, panel.unit, sample, repr(value)])
            for kind, counts in line.work.items():
                rows.writerow([name, point, kind, "", repr(counts[place])])
    return text.getvalue()


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], text_columns: int | None = 1) -> str:
    columns = len(head)
    numbers = columns - 1 if text_columns else 0
    rule = "|" + " --- |" * (columns - numbers) + " ---: |" * numbers
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return "\n".join([lines[0], rule, *lines[1:]])
