"""What the chapter claims of curves, tested on ours: linear, flat, and by how much one is above another."""

from collections.abc import Sequence
from itertools import pairwise

from dens_experiments.panel import Line, Shape, verdict
from dens_experiments.tables import number

STRAIGHT = 0.95
"""The least share of a line's variance that a straight line has to explain."""


def straightness(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return R² of the straight line of least squares through some points; 1 where all ys are equal."""
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread_x = sum((x - mean_x) ** 2 for x in xs)
    spread_y = sum((y - mean_y) ** 2 for y in ys)
    if not spread_x or not spread_y:
        return 1.0
    shared = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return shared**2 / (spread_x * spread_y)


def linear(claim: str, what: str, xs: Sequence[float], line: Line, unit: str) -> Shape:
    """Hold a line against "linear": straight, and rising about as its points do."""
    ys = line.means
    straight = straightness(xs, ys)
    grown = ys[-1] / ys[0] if ys[0] else float("inf")
    wide = f"× {number(xs[-1] / xs[0])}" if xs[0] else f"from 0 to {number(xs[-1])}"
    is_rising = ys[-1] > ys[0]
    return Shape(
        claim,
        f"{what}: {number(ys[0])} to {number(ys[-1])} {unit}, × {number(grown)} where the points grow "
        f"{wide}; straight to {straight:.2f}",
        verdict(is_rising and straight >= STRAIGHT, is_rising),
    )


def rising(claim: str, what: str, line: Line, unit: str, why: str = "") -> Shape:
    """Hold a line against "rises"."""
    ys = line.means
    steps = sum(b > a for a, b in pairwise(ys))
    return _stepwise(
        claim, f"{what}: {number(ys[0])} to {number(ys[-1])} {unit}, up", steps, ys, ys[-1] > ys[0], why
    )


def falling(claim: str, what: str, line: Line, unit: str, why: str = "") -> Shape:
    """Hold a line against "falls"."""
    ys = line.means
    steps = sum(b < a for a, b in pairwise(ys))
    return _stepwise(
        claim, f"{what}: {number(ys[0])} to {number(ys[-1])} {unit}, down", steps, ys, ys[-1] < ys[0], why
    )


def _stepwise(claim: str, seen: str, steps: int, ys: Sequence[float], is_so: bool, why: str) -> Shape:
    is_throughout = is_so and steps == len(ys) - 1
    return Shape(
        claim,
        f"{seen} in {steps} of {len(ys) - 1} steps",
        verdict(is_throughout, is_so),
        "" if is_throughout else why,
    )


def flat(claim: str, what: str, line: Line, unit: str, most: float, why: str = "") -> Shape:
    """Hold a line against "flat": its last value is at most `most` times its first."""
    grown = line.means[-1] / line.means[0]
    return Shape(
        claim,
        f"{what}: {number(line.means[0])} to {number(line.means[-1])} {unit}, × {number(grown)}",
        verdict(grown <= most, grown <= 2 * most),
        "" if grown <= most else why,
    )


def above(claim: str, high: str, low: str, lines: dict[str, Line], unit: str, least: float = 1.0) -> Shape:
    """Hold two lines against "one is above the other", at the last point, by this factor at least."""
    top, bottom = lines[high].means[-1], lines[low].means[-1]
    ratio = top / bottom if bottom else float("inf")
    return Shape(
        claim,
        f"{high} {number(top)}, {low} {number(bottom)} {unit}: × {number(ratio)}",
        verdict(ratio >= least, ratio > 1),
    )
