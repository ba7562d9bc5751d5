"""Learns terms from past values.

The method is that of A-ToPSS (paper 001, §3): the values are split at the k - 1 largest gaps between
neighbours; within a part the degree of a value is the density around it, counted in a window as wide as the
part's largest gap, normalised and smoothed. Everything happens on the 256 normalised values, because no term
can express a smaller gap. Three additions make the result usable in a vocabulary:

- Past values have outliers, and where values are dense all gaps are equal. A gap is skipped if it would leave
  a part with less than `LEAST_SHARE` of the values; among equal gaps the one with the fewest values around it
  is taken.
- The lowest and the highest term extend to the ends of the domain: a value that was never measured is not
  less high than the highest one that was.
- A term must be expressible in the language: the compiler's own fit determines the curve and its deviation.
  In the form `lr` its corners are read from the density instead, with independent sides (`lr_terms`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from knowledge_manager.vocabulary.event_class import Attribute
from plugins.authoring.terms import Curve
from plugins.registry import term_shapes
from spark_analysis.errors import LearningError
from spark_analysis.learning.lr_terms import lr_fitted

Counts = npt.NDArray[np.int64]
Form = Literal["fitted", "lr"]

LEAST_SHARE: Final = 0.02
"""Minimum share of all values per term."""

AROUND: Final = 8
"""Range around a gap, in 255ths, whose values break ties between equal gaps."""

SMOOTHED_OVER: Final = 12
"""The smoothing window is the width of a part divided by this."""

NAMES: Final[dict[int, tuple[str, ...]]] = {
    1: ("usual",),
    2: ("low", "high"),
    3: ("low", "normal", "high"),
    4: ("low", "rather_low", "rather_high", "high"),
    5: ("very_low", "low", "normal", "high", "very_high"),
}
"""Default names of terms, in ascending order."""


@dataclass(frozen=True, slots=True)
class LearntTerm:
    """A proposed term: its name, its TOML form, and its curves.

    `density` comes from the values, `curve` from the language; `deviation` is their largest difference.
    `values` past values lie from byte `first` to `last`.
    """

    name: str
    written: dict[str, Any]
    first: int
    last: int
    values: int
    density: Curve
    curve: Curve
    deviation: float


def learn_terms(
    counts: Counts, attribute: Attribute, names: Sequence[str], form: Form = "fitted"
) -> list[LearntTerm]:
    """Propose one term per name, in ascending order, from how often each of the 256 bytes was measured.

    Raises `LearningError` if there are too few distinct values.
    """
    parts = split(counts, len(names))
    shapes = term_shapes()
    learnt = []
    for number, (name, (first, last)) in enumerate(zip(names, parts, strict=True)):
        drawn = smoothed(density(counts, first, last), last - first + 1)
        if number == 0 and len(parts) > 1:
            drawn[: int(drawn.argmax())] = 1.0
        if number == len(parts) - 1 and len(parts) > 1:
            drawn[int(drawn.argmax()) :] = 1.0
        fitted = lr_fitted(drawn, attribute) if form == "lr" else shapes.fitted(drawn, attribute)
        learnt.append(
            LearntTerm(
                name,
                fitted.written,
                first,
                last,
                int(counts[first : last + 1].sum()),
                drawn,
                fitted.curve,
                fitted.deviation,
            )
        )
    return learnt


def holes(learnt: Sequence[LearntTerm], attribute: Attribute) -> list[tuple[float, float]]:
    """Return the parts of the domain that no term covers, from–to in the attribute's unit."""
    silent = np.ones(256, bool)
    for term in learnt:
        silent &= term.curve <= 0
    edges = np.flatnonzero(np.diff(np.concatenate([[0], silent.astype(np.int8), [0]])))

    values = term_shapes().values(attribute)

    def number(byte: int) -> float:
        return round(float(values[byte]), max(attribute.decimals, 1))

    return [(number(int(low)), number(int(end) - 1)) for low, end in edges.reshape(-1, 2)]


def split(counts: Counts, parts: int) -> list[tuple[int, int]]:
    """Return the first and the last byte of each part: the values split at the largest allowed gaps."""
    present = np.flatnonzero(counts)
    if len(present) < parts:
        raise LearningError(
            f"{len(present)} distinct values are too few for {parts} terms; use fewer terms or more readings"
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
            f"the values form only {len(borders) + 1} groups of sufficient size, not {parts}; use fewer terms"
        )
    ends = [*borders, int(present[-1])]
    begins = [int(present[0]), *(int(present[np.searchsorted(present, border) + 1]) for border in borders)]
    return list(zip(begins, ends, strict=True))


def _order(counts: Counts, present: Counts, at: int) -> tuple[int, int, int]:
    """Sort key of gaps: the widest first, then the fewest values around it, then the lowest."""
    low, high = int(present[at]), int(present[at + 1])
    return low - high, int(counts[max(0, low - AROUND) : high + AROUND + 1].sum()), low


def density(counts: Counts, first: int, last: int) -> Curve:
    """Return the density of a part around each byte: 1 at its maximum, 0 outside of the part."""
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
    """Return the curve smoothed over a fraction of the part's width, with a single peak of 1."""
    reach = max(1, width // SMOOTHED_OVER)
    kernel = np.concatenate([np.arange(1, reach + 2), np.arange(reach, 0, -1)]).astype(np.float64)
    padded = np.pad(curve, reach, mode="edge")
    soft: Curve = np.convolve(padded, kernel / kernel.sum(), mode="valid")
    peak = int(soft.argmax())
    soft[: peak + 1] = np.maximum.accumulate(soft[: peak + 1])
    soft[peak:] = np.maximum.accumulate(soft[peak:][::-1])[::-1]
    soft /= soft[peak]
    return soft
