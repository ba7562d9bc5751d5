"""Draws learnt terms over the values they were learnt from, as SVG."""

import io
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from knowledge_manager.vocabulary.event_class import Attribute
from plugins.registry import term_shapes
from spark_analysis.learning.terms import LearntTerm

_COLOURS = ("#1b6ca8", "#b5541c", "#3b7d3a", "#7a4fa3", "#a3324f")
_STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "dens", "font.size": 11}


def terms_svg(counts: npt.NDArray[np.int64], attribute: Attribute, terms: list[LearntTerm]) -> str:
    """Return the figure: frequency of each value, density, and fitted terms."""
    x = term_shapes().values(attribute)
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(9, 4.2), layout="constrained")
        axes = figure.add_subplot()
        height = counts / max(1, int(counts.max()))
        axes.bar(x, height, width=np.gradient(x), color="#c9c9c9", label="measured")
        for term, colour in zip(terms, _cycled(len(terms)), strict=True):
            axes.plot(x, term.density, color=colour, linewidth=1, linestyle=":")
            axes.plot(x, term.curve, color=colour, linewidth=2, label=term.name)
        axes.set_ylim(0, 1.03)
        axes.set_xlim(*_seen(counts, x))
        axes.set_xlabel(f"{attribute.name} ({attribute.unit})" if attribute.unit else attribute.name)
        axes.set_ylabel("degree, and share of the most frequent value")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.14), ncols=len(terms) + 1, frameon=False)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def _cycled(count: int) -> list[str]:
    return [_COLOURS[at % len(_COLOURS)] for at in range(count)]


def _seen(counts: npt.NDArray[np.int64], x: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the range to show: the measured values with a margin of a fifth on each side."""
    present = np.flatnonzero(counts)
    room = max(8, int(present[-1] - present[0]) // 5)
    return float(x[max(0, present[0] - room)]), float(x[min(255, present[-1] + room)])
