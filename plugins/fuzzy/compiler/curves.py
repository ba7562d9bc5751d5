"""Step 3: wishes → curves. Draws what was asked for over the 256 values of the normalised domain."""

from functools import cache
from typing import assert_never

import numpy as np
import numpy.typing as npt

from knowledge_manager.event_class import Attribute
from knowledge_manager.terms import (
    Bell,
    Fuzzifier,
    Gaussian,
    Points,
    Shoulder,
    Sigmoid,
    Trapezoidal,
    Triangular,
    Universal,
)
from plugins.fuzzy.compiler.wishes import Curved, Exact, Wish
from watchdog.membership import SLOPES

Curve = npt.NDArray[np.float64]
"""A degree in [0, 1] for each byte 0..255."""

_BYTES = np.arange(256)


def wanted_curve(wish: Wish) -> Curve:
    """Return the curve that a wish asks for, its hedges and its complement included."""
    shape = wish.shape
    if isinstance(shape, Exact):
        return degrees(*shape.triple)
    curve = plain_curve(shape, wish.attribute)
    return 1.0 - curve if shape.complement else curve


def plain_curve(shape: Curved, attribute: Attribute | None) -> Curve:
    """Return the curve of a term with its hedges, before `is-not` turns it over."""
    curve = fuzzifier_curve(shape.fuzzifier, domain_values(attribute))
    for hedge in shape.hedges:
        curve = hedged(curve, hedge)
    return curve


def domain_values(attribute: Attribute | None) -> Curve:
    """Return the value of each byte, in the attribute's unit; the byte itself where there is no attribute."""
    if attribute is None or attribute.type == "nominal":
        return _BYTES.astype(np.float64)
    values: Curve = attribute.lo + (attribute.hi - attribute.lo) * _BYTES.astype(np.float64) / 255.0
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
            case _:
                assert_never(fuzzifier)


def hedged(curve: Curve, hedge: str) -> Curve:
    """Return the curve bent by a hedge."""
    match hedge:
        case "very":
            return curve**2
        case "extremely":
            return curve**3
        case "more_or_less":
            return np.sqrt(curve)
        case "slightly":
            return np.cbrt(curve)
        case "indeed":
            return np.where(curve < 0.5, 2.0 * curve**2, 1.0 - 2.0 * (1.0 - curve) ** 2)
        case "not":
            return 1.0 - curve
        case _:
            raise ValueError(f"no hedge is called {hedge!r}")


def degrees(v: int, V: int, g: int) -> Curve:
    """Return the degrees, in [0, 1], that (v, V, g) gives to each byte, in the integers of every runtime."""
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
    """Return 1 where the distance is not positive, falling to 0 over the width, at once if that is 0."""
    if width == 0:
        return np.where(distance <= 0, 1.0, 0.0)
    return np.clip(1.0 - distance / width, 0.0, 1.0)
