"""Membership curves over the 256 values of a normalised domain: fuzzifiers, hedges and the encoding (v, V,
g).
"""

from functools import cache
from itertools import pairwise
from typing import assert_never

import numpy as np
import numpy.typing as npt

from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.hedges import HEDGES
from knowledge_manager.vocabulary.side_shapes import side_degree
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
    Universal,
)
from watchdog.membership import SLOPES

Curve = npt.NDArray[np.float64]
"""A degree in [0, 1] for each byte 0..255."""

_BYTES = np.arange(256)


def corners(fuzzifier: Fuzzifier) -> tuple[float, ...]:
    """Return the values between which a curve is monotonic."""
    match fuzzifier:
        case Trapezoidal(left, right, width):
            return left - width, left, right, right + width
        case Triangular(center, width):
            return center - width, center, center + width
        case Gaussian(center, _) | Bell(center, _, _):
            return (center,)
        case Shoulder(_, start, end):
            return start, end
        case Points(points):
            return tuple(x for x, _ in points)
        case Lr(lower, upper, left, right):
            rising = () if lower is None else (lower - left, lower)
            falling = () if upper is None else (upper, upper + right)
            return *rising, *falling
        case Sigmoid() | Universal():
            return ()
        case _:
            assert_never(fuzzifier)


def domain_values(attribute: Attribute | None) -> Curve:
    """Return the value in the middle of each byte, in the attribute's unit; the byte itself without an
    attribute.
    """
    values = _BYTES.astype(np.float64)
    if attribute is None or attribute.type == "nominal":
        return values
    inner = [(scaled / 10**attribute.decimals, byte) for scaled, byte in attribute.breakpoints]
    for (x, low), (next_x, high) in pairwise([(attribute.lo, 0), *inner, (attribute.hi, 255)]):
        piece = _BYTES[low : high + 1].astype(np.float64) - low
        values[low : high + 1] = x + (next_x - x) * piece / float(high - low)
    return values


def fuzzifier_curve(fuzzifier: Fuzzifier, x: Curve) -> Curve:
    """Return the degrees of a fuzzifier at the values x."""
    with np.errstate(over="ignore", under="ignore"):
        match fuzzifier:
            case Trapezoidal(left, right, width):
                return _falling(np.maximum(left - x, x - right), width)
            case Triangular(center, width):
                return _falling(np.abs(x - center), width)
            case Gaussian(center, sigma):
                return np.exp(-0.5 * ((x - center) / sigma) ** 2)
            case Bell(center, width, slope):
                return 1.0 / (1.0 + np.abs((x - center) / width) ** (2.0 * slope))
            case Sigmoid(center, slope):
                return 1.0 / (1.0 + np.exp(-slope * (x - center)))
            case Shoulder("right", start, end):
                return _falling(end - x, end - start)
            case Shoulder(_, start, end):
                return _falling(x - start, end - start)
            case Points(points):
                xs, ys = zip(*points, strict=True)
                interpolated: Curve = np.interp(x, xs, ys)
                return interpolated
            case Universal(v, V, g):
                return degrees(v, V, g)
            case Lr(lower, upper, left, right, left_shape, right_shape):
                rising = x * 0.0 + 1.0 if lower is None else _falling(lower - x, left)
                falling = x * 0.0 + 1.0 if upper is None else _falling(x - upper, right)
                drawn: Curve = np.where(
                    rising < 1.0, side_degree(left_shape, rising), side_degree(right_shape, falling)
                )
                return np.where((rising == 0.0) | (falling == 0.0), 0.0, drawn)
            case _:
                assert_never(fuzzifier)


def hedged(curve: Curve, hedge: str) -> Curve:
    """Return the curve modified by a hedge."""
    bent: Curve = HEDGES[hedge].bend(curve)
    return bent


def degrees(v: int, V: int, g: int) -> Curve:
    """Return the degrees, in [0, 1], that (v, V, g) gives to each byte, in the integer arithmetic of every
    runtime.
    """
    distance = np.maximum(np.maximum(v - _BYTES, _BYTES - V), 0)
    curve: Curve = degrees_by_distance()[g & 127][distance]
    return 1.0 - curve if g & 128 else curve


@cache
def degrees_by_distance() -> Curve:
    """Return the degree, in [0, 1], for each slope code (rows) and each distance 0..255 from the core."""
    slopes = np.array(SLOPES, dtype=np.int64)[:, None]
    loss = np.minimum((_BYTES[None, :] * slopes + 128) >> 8, 255)
    table: Curve = (255 - loss) / 255.0
    return table


def _falling(distance: Curve, width: float) -> Curve:
    """Return 1 where the distance is not positive, falling to 0 over the width (a step if the width is 0)."""
    if width == 0:
        return np.where(distance <= 0, 1.0, 0.0)
    return np.clip(1.0 - distance / width, 0.0, 1.0)
