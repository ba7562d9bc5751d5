"""From a curve with hedges to a shape of four corners, or to the reason why there is none."""

import math
from fractions import Fraction
from itertools import dropwhile, takewhile
from typing import Final

from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.hedges import HEDGES as WORDS
from knowledge_manager.vocabulary.side_shapes import GAUSSIAN_SPREAD, STRAIGHT
from knowledge_manager.vocabulary.terms import (
    Bell,
    Fuzzifier,
    Gaussian,
    Lr,
    Points,
    Shoulder,
    Sigmoid,
    Trapezoidal,
    Triangular,
)
from plugins.atopss.shape_bytes import fault_of
from plugins.atopss.shapes.profiles import DUALS, GAUSSIAN, HEDGES, bent, is_profile
from plugins.atopss.shapes.scale import INFINITE
from plugins.atopss.shapes.shapes import Shape
from plugins.authoring.constants import BadConstant
from plugins.authoring.xml.comparisons import nearest_reading

NO_SHAPE: Final = "D162"
TOO_MANY_HEDGES: Final = "D163"
TOO_LARGE: Final = "D168"

_HALF_HEIGHT: Final = math.sqrt(2 * math.log(2))
"""The deviations at which a normal curve has half its height."""

_SIDES: Final = {
    STRAIGHT: 0,
    "gaussian": GAUSSIAN,
    **HEDGES,
    **{f"dual_{name}": DUALS[code] for name, code in HEDGES.items()},
}
"""The codes of the functions of a side, by name."""

SIDE_WORDS: Final = {code: name for name, code in reversed(_SIDES.items())}
"""The names of the codes."""

Ends = tuple[float | None, float | None, float | None, float | None]
"""Corners in the attribute's unit, None for no end."""


def shape_of(
    fuzzifier: Fuzzifier, hedges: tuple[str, ...], attribute: Attribute, *, is_complement: bool = False
) -> tuple[Shape, bool]:
    """Return the shape of a hedged curve, and whether it is complemented. Hedges are in order of application.
    A curve without a shape raises `BadConstant`.
    """
    ends, left, right = _drawn(fuzzifier)
    m1, m2, m3, m4 = (_on_axis(end, attribute, side) for end, side in zip(ends, (-1, -1, 1, 1), strict=True))
    if isinstance(fuzzifier, Gaussian):
        spread = math.ceil(Fraction(repr(GAUSSIAN_SPREAD * fuzzifier.sigma)) * 10**attribute.decimals)
        m1, m4 = m2 - spread, m3 + spread
    is_turned = False
    for hedge in hedges:
        if WORDS[hedge].turns_over:
            is_turned = not is_turned
            continue
        code = DUALS[_code(hedge)] if is_turned else _code(hedge)
        left, right = (
            _bent(side, code) if is_sloped else 0 for side, is_sloped in ((left, m1 < m2), (right, m3 < m4))
        )
    shape = Shape(m1, m2, m3, m4, left if m1 < m2 else 0, right if m3 < m4 else 0)
    if fault := fault_of(shape):
        raise BadConstant(TOO_LARGE, f"{attribute.name}: {fault}")
    return shape, is_turned != is_complement


def _code(side: str) -> int:
    code = _SIDES.get(side)
    if code is None:
        raise BadConstant(NO_SHAPE, f'"{side}" has no code in vectors of this language; use other hedges')
    return code


def _bent(side: int, code: int) -> int:
    made = bent(side, code)
    if made is None:
        raise BadConstant(
            TOO_MANY_HEDGES,
            "a side has at most two functions that do not cancel, each a hedge or a normal curve; "
            "remove one, or define the curve directly",
        )
    return made


def _on_axis(end: float | None, attribute: Attribute, side: int) -> int:
    """Return a corner on the axis of its attribute, rounded to a reading."""
    if end is None:
        return side * INFINITE
    if not math.isfinite(end):
        raise BadConstant(TOO_LARGE, f"{attribute.name}: the distance is too large for a line")
    return nearest_reading(Fraction(repr(end)) * 10**attribute.decimals) - attribute.lo_scaled


def _drawn(fuzzifier: Fuzzifier) -> tuple[Ends, int, int]:
    """Return corners and the profiles of both sides."""
    match fuzzifier:
        case Trapezoidal(left, right, width):
            return (left - width, left, right, right + width), 0, 0
        case Triangular(center, width):
            return (center - width, center, center, center + width), 0, 0
        case Gaussian(center, sigma):
            spread = GAUSSIAN_SPREAD * sigma
            return (center - spread, center, center, center + spread), GAUSSIAN, GAUSSIAN
        case Shoulder("right", start, end):
            return (start, end, None, None), 0, 0
        case Shoulder(_, start, end):
            return (None, None, start, end), 0, 0
        case Lr(lower, upper, left, right, left_shape, right_shape):
            low = None if lower is None else lower - left
            high = None if upper is None else upper + right
            return (low, lower, upper, high), _side(left_shape), _side(right_shape)
        case Points(points):
            return _through(points), 0, 0
        case _:
            raise BadConstant(
                NO_SHAPE,
                f"this curve is not a shape with four corners; the nearest one is {_nearest(fuzzifier)}",
            )


def _side(shape: str) -> int:
    inner, *outer = (_code(word) for word in reversed(shape.split()))
    made = inner + 16 * sum(outer)
    if made and not is_profile(made):
        raise BadConstant(TOO_MANY_HEDGES, f'"{shape}" cancels, or cannot be encoded; use one function')
    return made


def _through(points: tuple[tuple[float, float], ...]) -> Ends:
    """Return the corners of lines that rise from 0 to 1 once, or fall from 1 to 0, or both."""
    before = list(takewhile(lambda point: point[1] == 0, points))
    rest = points[len(before) :]
    top = list(takewhile(lambda point: point[1] == 1, rest))
    after = rest[len(top) :]
    if not top or list(dropwhile(lambda point: point[1] == 0, after)):
        raise BadConstant(
            NO_SHAPE,
            f"these points are not a shape with four corners; the nearest one is {_nearest(Points(points))}",
        )
    m1, m2 = (before[-1][0], top[0][0]) if before else (None, None)
    m3, m4 = (top[-1][0], after[0][0]) if after else (None, None)
    return m1, m2, m3, m4


def _nearest(fuzzifier: Fuzzifier) -> str:
    """Return the element of a shape that is similar to a curve."""
    match fuzzifier:
        case Bell(center, width, _):
            return f'<gaussian center="{center:g}" sigma="{width / _HALF_HEIGHT:.4g}"/>'
        case Sigmoid(center, slope):
            reach = 2 / abs(slope)
            side = "right" if slope > 0 else "left"
            return f'<shoulder side="{side}" from="{center - reach:.6g}" to="{center + reach:.6g}"/>'
        case Points(points):
            highest = max(y for _, y in points)
            core = [x for x, y in points if y == highest]
            first, last = points[0], points[-1]
            lower = "" if first[1] else f' lower="{core[0]:g}" left="{core[0] - first[0]:g}"'
            upper = "" if last[1] else f' upper="{core[-1]:g}" right="{last[0] - core[-1]:g}"'
            ends = lower + upper or f' lower="{core[0]:g}" upper="{core[-1]:g}"'
            return f"<lr{ends}/>"
        case _:
            return "an <lr> with the same ends"
