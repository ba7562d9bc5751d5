"""Terms from past values: where people's words for an attribute may lie, judging by what was measured.

The method is A-ToPSS' (SPEC §13): the values are split at the k - 1 largest gaps between neighbours; within
a part the degree of a value is the density around it, counted in a window as wide as the part's largest
gap, and normalised; then it is smoothed. All of it happens on the 256 normalised values, because a gap that
is smaller cannot be told by any term. Three things are added so that it serves a vocabulary:

- Past values have outliers, and where values are dense all gaps are equal. A gap is passed over if it would
  leave a part with less than `LEAST_SHARE` of the values; among equal gaps the one with fewest values around
  it is taken.
- The lowest and the highest term reach to the ends of the domain: what has never been measured is not
  less high than the highest that was.
- A term is what three bytes can say: the compiler's own fit draws the line, and says how far it strays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from knowledge_manager.event_class import Attribute
from plugins.curves import degrees
from plugins.fuzzy.authoring.compiler.fit import fit
from plugins.fuzzy.readings import middle
from spark_analysis.errors import LearningError
from watchdog.membership import SLOPES

Counts = npt.NDArray[np.int64]
Curve = npt.NDArray[np.float64]

LEAST_SHARE: Final = 0.02
"""Of all values, so many belong to every term at least."""

AROUND: Final = 8
"""A gap is judged by the values within so many 255ths of it."""

SMOOTHED_OVER: Final = 12
"""A part is smoothed over one in so many of its width."""

CRISP: Final = 127
"""The slope code without a slope."""

NAMES: Final[dict[int, tuple[str, ...]]] = {
    1: ("usual",),
    2: ("low", "high"),
    3: ("low", "normal", "high"),
    4: ("low", "rather_low", "rather_high", "high"),
    5: ("very_low", "low", "normal", "high", "very_high"),
}
"""What terms are called where nobody says, in rising order."""


@dataclass(frozen=True, slots=True)
class LearntTerm:
    """A proposed term: what it is called, how a vocabulary writes it, and the curves behind it.

    `density` is what the values say, `curve` what three bytes make of it; `deviation` is the largest
    difference between them. `values` of the past ones lie from the byte `first` to `last`.
    """

    name: str
    written: dict[str, Any]
    first: int
    last: int
    values: int
    density: Curve
    curve: Curve
    deviation: float


def learn_terms(counts: Counts, attribute: Attribute, names: Sequence[str]) -> list[LearntTerm]:
    """Propose a term for each name, in rising order, from how often each of the 256 bytes was measured.

    Raises `LearningError` when there are too few different values for so many terms.
    """
    parts = split(counts, len(names))
    learnt = []
    for number, (name, (first, last)) in enumerate(zip(names, parts, strict=True)):
        drawn = smoothed(density(counts, first, last), last - first + 1)
        if number == 0 and len(parts) > 1:
            drawn[: int(drawn.argmax())] = 1.0
        if number == len(parts) - 1 and len(parts) > 1:
            drawn[int(drawn.argmax()) :] = 1.0
        fitted = fit(drawn)
        v, V, g = fitted.triple
        learnt.append(
            LearntTerm(
                name,
                written(v, V, g & 127, attribute),
                first,
                last,
                int(counts[first : last + 1].sum()),
                drawn,
                degrees(v, V, g),
                fitted.deviation,
            )
        )
    return learnt


def holes(learnt: Sequence[LearntTerm], attribute: Attribute) -> list[tuple[float, float]]:
    """Return where the domain has values that no term says anything of, from–to in the attribute's unit."""
    silent = np.ones(256, bool)
    for term in learnt:
        silent &= term.curve <= 0
    edges = np.flatnonzero(np.diff(np.concatenate([[0], silent.astype(np.int8), [0]])))

    def number(byte: int) -> float:
        return round(float(middle(byte, attribute)), max(attribute.decimals, 1))

    return [(number(int(low)), number(int(end) - 1)) for low, end in edges.reshape(-1, 2)]


def split(counts: Counts, parts: int) -> list[tuple[int, int]]:
    """Return the first and the last byte of each part: the values split at the largest gaps that may be."""
    present = np.flatnonzero(counts)
    if len(present) < parts:
        raise LearningError(
            f"{len(present)} different values are too few for {parts} terms; ask for fewer terms, "
            "or learn from more readings"
        )
    below = np.cumsum(counts)
    least = LEAST_SHARE * int(below[-1])
    borders: list[int] = []  # the last byte of every part but the highest
    for gap in sorted(range(len(present) - 1), key=lambda at: _order(counts, present, at)):
        if len(borders) == parts - 1:
            break
        trial = sorted([*borders, int(present[gap])])
        sizes = np.diff([0, *(int(below[border]) for border in trial), int(below[-1])])
        if sizes.min() >= least:
            borders = trial
    if len(borders) < parts - 1:
        raise LearningError(
            f"the values fall into {len(borders) + 1} groups of some size, not into {parts}; "
            "ask for fewer terms"
        )
    ends = [*borders, int(present[-1])]
    begins = [int(present[0]), *(int(present[np.searchsorted(present, border) + 1]) for border in borders)]
    return list(zip(begins, ends, strict=True))


def _order(counts: Counts, present: Counts, at: int) -> tuple[int, int, int]:
    """Sort gaps: the widest first, then the loneliest, then the lowest."""
    low, high = int(present[at]), int(present[at + 1])
    return low - high, int(counts[max(0, low - AROUND) : high + AROUND + 1].sum()), low


def density(counts: Counts, first: int, last: int) -> Curve:
    """Return how dense a part is around each byte: 1 where it is densest, 0 outside of it."""
    present = first + np.flatnonzero(counts[first : last + 1])
    window = int(np.diff(present).max()) if len(present) > 1 else 1
    before = np.concatenate([[0], np.cumsum(counts)])
    at = np.arange(first, last + 1)
    low = np.maximum(first, np.ceil(at - window / 2)).astype(np.int64)
    high = np.minimum(last, np.floor(at + window / 2)).astype(np.int64)
    found: Curve = np.zeros(256)
    found[first : last + 1] = (before[high + 1] - before[low]) / window
    found /= found.max()
    return found


def smoothed(curve: Curve, width: int) -> Curve:
    """Return the curve smoothed over a share of the part's width, with one peak, which is 1."""
    reach = max(1, width // SMOOTHED_OVER)
    kernel = np.concatenate([np.arange(1, reach + 2), np.arange(reach, 0, -1)]).astype(np.float64)
    padded = np.pad(curve, reach, mode="edge")
    soft: Curve = np.convolve(padded, kernel / kernel.sum(), mode="valid")
    peak = int(soft.argmax())
    soft[: peak + 1] = np.maximum.accumulate(soft[: peak + 1])
    soft[peak:] = np.maximum.accumulate(soft[peak:][::-1])[::-1]
    soft /= soft[peak]
    return soft


def written(v: int, V: int, c: int, attribute: Attribute) -> dict[str, Any]:
    """Return how a vocabulary writes the three bytes, in the attribute's unit: a shoulder or a trapezoid, and
    points where a scale bends its sides.
    """
    if attribute.breakpoints:
        return _written_on_a_scale(v, V, c, attribute)
    scale = (attribute.hi - attribute.lo) / 255
    width = 0.0 if c == CRISP else 255 * 256 / SLOPES[c] * scale
    left, right = attribute.lo + v * scale, attribute.lo + V * scale

    def number(value: float) -> float:
        return round(value, max(attribute.decimals, 1))

    if v == 0 and V < 255:
        return {"shoulder": {"side": "left", "from": number(right), "to": number(right + width)}}
    if V == 255 and v > 0:
        return {"shoulder": {"side": "right", "from": number(left - width), "to": number(left)}}
    return {"trapezoidal": {"left": number(left), "right": number(right), "width": number(width)}}


def _written_on_a_scale(v: int, V: int, c: int, attribute: Attribute) -> dict[str, Any]:
    """Return the points of the curve: its corners, the ends of the domain, and where the scale bends it."""
    width = Fraction(1) if c == CRISP else Fraction(255 * 256, SLOPES[c])
    bends = [byte for _, byte in attribute.breakpoints]
    whole = [Fraction(byte) for byte in (0, 255, v, V, *bends)]
    places = sorted({byte for byte in (*whole, v - width, V + width) if 0 <= byte <= 255})
    found: dict[float, float] = {}
    for byte in places:
        value = round(float(middle(byte, attribute)), max(attribute.decimals, 1))
        outside = max(v - byte, byte - V, Fraction(0))
        found.setdefault(value, round(max(0.0, float(1 - outside / width)), 6))
    return {"points": [[value, degree] for value, degree in found.items()]}
