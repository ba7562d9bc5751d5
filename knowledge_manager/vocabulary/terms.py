"""Terms of an attribute, such as "high", as plain data.

A term is a fuzzifier with parameters in the attribute's unit, or another term with hedges. The curves are
computed by the language that uses them; this module only validates the parameters.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from knowledge_manager.vocabulary.side_shapes import STRAIGHT, fault_of_side, side_degree


@dataclass(frozen=True, slots=True)
class Trapezoidal:
    """Degree 1 on [left, right]; falls to 0 over `width` on each side."""

    left: float
    right: float
    width: float


@dataclass(frozen=True, slots=True)
class Triangular:
    """Degree 1 at the center; falls to 0 over `width` on each side."""

    center: float
    width: float


@dataclass(frozen=True, slots=True)
class Gaussian:
    """The bell curve exp(−(x − center)² / 2σ²)."""

    center: float
    sigma: float


@dataclass(frozen=True, slots=True)
class Bell:
    """The generalised bell 1 / (1 + |(x − center)/width|^(2·slope))."""

    center: float
    width: float
    slope: float


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """The step 1 / (1 + exp(−slope·(x − center))); the sign of the slope is its direction."""

    center: float
    slope: float


@dataclass(frozen=True, slots=True)
class Shoulder:
    """A ramp between `start` and `end`: side "right" is 1 above it, side "left" is 1 below it."""

    side: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Points:
    """Straight lines between (x, degree) points with rising x; constant outside of them."""

    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Universal:
    """The three bytes of a constraint: core [v, V] on the normalised domain, slope code g."""

    v: int
    V: int
    g: int


@dataclass(frozen=True, slots=True)
class Lr:
    """Degree 1 from `lower` to `upper` (None is unbounded); falls to 0 over `left` and `right` along sides of
    the given shapes (`knowledge_manager.vocabulary.side_shapes`).
    """

    lower: float | None
    upper: float | None
    left: float = 0.0
    right: float = 0.0
    left_shape: str = STRAIGHT
    right_shape: str = STRAIGHT


Fuzzifier = Trapezoidal | Triangular | Gaussian | Bell | Sigmoid | Shoulder | Points | Universal | Lr


@dataclass(frozen=True, slots=True)
class Hedged:
    """Another term of the same attribute with hedges, in reading order ("very", "very")."""

    hedges: tuple[str, ...]
    of: str


Term = Fuzzifier | Hedged

NOTHING: Final = 0.5 / 255
"""Degrees below this are encoded as 0."""


def faults(fuzzifier: Fuzzifier) -> list[str]:
    """Return the problems of the parameters; empty if the curve is well defined."""
    match fuzzifier:
        case Trapezoidal(left, right, width):
            found = [f"left ({left:g}) is greater than right ({right:g})"] if left > right else []
            return found + _negative("width", width)
        case Triangular(_, width):
            return _negative("width", width)
        case Gaussian(_, sigma):
            return _not_positive("sigma", sigma)
        case Bell(_, width, slope):
            return _not_positive("width", width) + _not_positive("slope", slope)
        case Sigmoid(_, slope):
            return ["slope is 0: the curve would be ½ everywhere"] if slope == 0 else []
        case Shoulder(side, start, end):
            found = [] if side in ("left", "right") else [f'side is "{side}"; it must be "left" or "right"']
            return found + ([f"from ({start:g}) is greater than to ({end:g})"] if start > end else [])
        case Points(points):
            return _faults_of_points(points)
        case Universal(v, V, g):
            found = [
                f"{name} is {byte}; it must be 0..255"
                for name, byte in (("v", v), ("V", V), ("g", g))
                if not 0 <= byte <= 255
            ]
            return found + ([f"v ({v}) is greater than V ({V})"] if v > V else [])
        case Lr():
            return _faults_of_lr(fuzzifier)


def misses(fuzzifier: Fuzzifier, lo: float, hi: float) -> bool:
    """Return whether a valid curve is 0 on the whole domain."""
    return _highest(fuzzifier, lo, hi) < NOTHING


def _highest(fuzzifier: Fuzzifier, lo: float, hi: float) -> float:
    """Return the maximum degree between lo and hi."""
    match fuzzifier:
        case Trapezoidal(left, right, width):
            return _fallen(max(0.0, left - hi, lo - right), width)
        case Triangular(center, width):
            return _fallen(max(0.0, center - hi, lo - center), width)
        case Gaussian(center, sigma):
            away = max(0.0, center - hi, lo - center) / sigma
            return math.exp(-0.5 * min(away, 40.0) ** 2)
        case Bell(center, width, slope):
            away = max(0.0, center - hi, lo - center) / width
            return 0.0 if away > 1.0 and slope * math.log(away) > 300 else 1 / (1 + away ** (2 * slope))
        case Sigmoid(center, slope):
            return 1 / (1 + math.exp(min(700.0, max(-700.0, -slope * ((hi if slope > 0 else lo) - center)))))
        case Shoulder("right", start, end):
            return _fallen(max(0.0, end - hi), end - start)
        case Shoulder(_, start, end):
            return _fallen(max(0.0, lo - start), end - start)
        case Points(points):
            inside = [y for x, y in points if lo <= x <= hi]
            return max([*inside, _between(points, lo), _between(points, hi)])
        case Universal():
            return 1.0
        case Lr(lower, upper, left, right, left_shape, right_shape):
            below = 0.0 if lower is None else max(0.0, lower - hi)
            above = 0.0 if upper is None else max(0.0, lo - upper)
            rising: float = side_degree(left_shape, _fallen(below, left))
            falling: float = side_degree(right_shape, _fallen(above, right))
            return min(rising, falling)


def _faults_of_lr(term: Lr) -> list[str]:
    found = _negative("left", term.left) + _negative("right", term.right)
    if term.lower is not None and term.upper is not None and term.lower > term.upper:
        found.append(f"lower ({term.lower:g}) is greater than upper ({term.upper:g})")
    if (term.lower is None and term.left) or (term.upper is None and term.right):
        found.append("an unbounded side cannot have a width")
    found += [fault for shape in (term.left_shape, term.right_shape) if (fault := fault_of_side(shape))]
    return found


def _fallen(away: float, width: float) -> float:
    """Return 1 at distance 0, falling linearly to 0 over the width, at once if the width is 0."""
    if width == 0:
        return 0.0 if away > 0 else 1.0
    return max(0.0, 1 - away / width)


def _between(points: tuple[tuple[float, float], ...], x: float) -> float:
    """Interpolate the degree linearly between the points."""
    for (a, y), (b, other) in pairwise(points):
        if a <= x <= b:
            return y + (other - y) * (x - a) / (b - a)
    return points[0][1] if x < points[0][0] else points[-1][1]


def _negative(name: str, amount: float) -> list[str]:
    return [f"{name} is negative ({amount:g})"] if amount < 0 else []


def _not_positive(name: str, amount: float) -> list[str]:
    return [] if amount > 0 else [f"{name} is {amount:g}; it must be greater than 0"]


def _faults_of_points(points: tuple[tuple[float, float], ...]) -> list[str]:
    if not points:
        return ["it has no points"]
    found = [f"the degree {y:g} at x = {x:g} is outside 0..1" for x, y in points if not 0 <= y <= 1]
    falls = [(a, b) for (a, _), (b, _) in pairwise(points) if a >= b]
    return found + [f"x does not increase from {a:g} to {b:g}" for a, b in falls]
