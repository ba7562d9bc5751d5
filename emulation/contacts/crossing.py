"""The interval in which two nodes in linear motion are within range: a quadratic, for many pairs at once."""

import numpy as np

from emulation.mobility.model import Floats

_GRAZE = 1e-14
"""A discriminant no larger than this share of its own first term is rounding: the path only grazes the
range."""


def in_range(
    px: Floats, py: Floats, vx: Floats, vy: Floats, reach: Floats, length: Floats
) -> tuple[Floats, Floats]:
    """Return when |p + v·t| ≤ reach begins and ends within 0..length.

    If it never holds, the end lies before the begin. The root that suffers from cancellation is computed from
    the product of the roots.
    """
    a = vx * vx + vy * vy
    half_b = px * vx + py * vy
    c = px * px + py * py - reach * reach
    discriminant = half_b * half_b - a * c
    with np.errstate(divide="ignore", invalid="ignore"):
        q = -(half_b + np.copysign(np.sqrt(np.maximum(discriminant, 0.0)), half_b))
        one, other = q / a, c / q
        # q = 0 requires half_b = 0 and a grazing path: the moment is 0.
        other = np.where(q == 0.0, one, other)
        enter, leave = np.minimum(one, other), np.maximum(one, other)
    still = a == 0.0
    never = np.where(still, c > 0.0, discriminant <= _GRAZE * half_b * half_b)
    enter = np.where(still, 0.0, np.maximum(enter, 0.0))
    leave = np.where(still, length, np.minimum(leave, length))
    return enter, np.where(never, -1.0, leave)
