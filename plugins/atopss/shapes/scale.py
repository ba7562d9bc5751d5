"""Integer scales of shapes and degrees."""

import math
from typing import Final

TOP: Final = 510
"""A degree is in 510ths, ⌊510·x⌋: 510 is full."""

LEAST: Final = 2
"""The minimum possibility of a match, 1/255."""

BYTE_TOP: Final = 255
"""A match reports a degree as a byte, ⌊255·x⌋: 255 is full."""

FULL: Final = 131070
"""Parts of a step of an axis, in which the begin of a cut of a sloped side is an integer."""

THIRTIETH: Final = 17
"""A threshold is t/30, which is 17t/510: comparing integers decides as comparing the numbers would."""

LAST_THRESHOLD: Final = 30
HALF: Final = 15
"""A threshold is a whole fifteenth, an even number of thirtieths, or one half."""

INFINITE: Final = 1 << 30
"""Marks an unbounded end. Corners are far below, so that sums keep their order."""

CORNER_LIMIT: Final = 1 << 23
"""Corners that can be encoded lie within ± this, exclusive."""


_TIE: Final = 1e-9


def byte_of(degree: int) -> int:
    """Return ⌊255·x⌋ of a degree.

    >>> byte_of(255), byte_of(510)
    (127, 255)
    """
    return degree >> 1


def threshold_of(degree: float) -> int:
    """Return a least degree in thirtieths: fifteenths, rounded up, or exactly one half, which is the
    necessity of a set given itself.

    >>> threshold_of(0.5), threshold_of(0.3), threshold_of(1)
    (15, 10, 30)
    """
    if abs(degree - 0.5) < _TIE:
        return HALF
    return 2 * max(0, math.ceil(15 * degree - _TIE))
