"""Thresholds: fifteenths, rounded up, or exactly one half, the necessity of a set given itself."""

import math
from typing import Final

from plugins.atopss.shapes.scale import HALF

_TIE: Final = 1e-9


def threshold_of(degree: float) -> int:
    """Return a least degree in thirtieths.

    >>> threshold_of(0.5), threshold_of(0.3), threshold_of(1)
    (15, 10, 30)
    """
    if abs(degree - 0.5) < _TIE:
        return HALF
    return 2 * max(0, math.ceil(15 * degree - _TIE))
