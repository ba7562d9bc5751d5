"""Delivery over the run: expected and completed deliveries over time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from spark_analysis import json_keys
from spark_analysis.answers import Analysis
from spark_analysis.metrics.delivery import over_time, pairs
from spark_analysis.question import Question, RunContext, Section
from spark_analysis.questions.delivery import kept_outcomes
from spark_analysis.rendering.html import figure, paragraph


@dataclass(frozen=True, slots=True)
class Timeline:
    """Deliveries that became expected, and deliveries that were completed, per bin of the run."""

    bin_s: float
    expected: tuple[int, ...] = field(metadata=json_keys.EXPECTED)
    delivered: tuple[int, ...]


def collect(context: RunContext) -> Timeline:
    bin_ms = context.bin_ms
    rows = context.once(kept_outcomes).transform(pairs).transform(over_time, bin_ms).collect()
    bins = max(-(-context.end_ms // bin_ms), 1 + max((row["bin"] for row in rows), default=0))
    expected, arrived = [0] * bins, [0] * bins
    for row in rows:
        expected[row["bin"]], arrived[row["bin"]] = row["expected"], row["delivered"]
    return Timeline(bin_ms / 1000, tuple(expected), tuple(arrived))


def sections(timeline: Timeline, analysis: Analysis) -> Iterable[Section]:
    text = "The gap between the lines is the number of expected deliveries that had not arrived by then."
    yield Section(
        place=50,
        id="over-time",
        title="Delivery over the run",
        html=paragraph(text) + figure(_figure(timeline)),
    )


def _figure(timeline: Timeline) -> str:
    """Draw the cumulative expected and completed deliveries."""
    from spark_analysis.rendering.drawing import INK, ONE, TWO, canvas, hours_axis, styled, svg

    with styled():
        chart, axes = canvas(3.8)
        hours = [i * timeline.bin_s / 3600 for i in range(len(timeline.expected) + 1)]
        expected, arrived = _running(timeline.expected), _running(timeline.delivered)
        axes.plot(hours, expected, color=TWO, label=f"expected ({expected[-1]:,})")
        axes.plot(hours, arrived, color=ONE, label=f"delivered ({arrived[-1]:,})")
        axes.fill_between(hours, arrived, expected, color=TWO, alpha=0.10, linewidth=0)
        axes.fill_between(hours, arrived, color=ONE, alpha=0.12, linewidth=0)
        axes.set_ylim(bottom=0)
        axes.margins(y=0.12)
        axes.legend(frameon=False, loc="upper left", labelcolor=INK)
        hours_axis(axes, timeline.bin_s * len(timeline.expected))
        axes.set_ylabel("pairs so far")
        return svg(
            chart,
            "timeline",
            "Expected and completed deliveries over the run",
            f"Two rising lines: {expected[-1]} deliveries expected by the end, {arrived[-1]} completed.",
        )


def _running(counts: Sequence[int]) -> list[int]:
    return list(accumulate(counts, initial=0))


TIMELINE: Final = Question(name="timeline", place=140, collect=collect, sections=sections)
