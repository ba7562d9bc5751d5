"""Step 4: curves → constraints. Finds the (v, V, g) nearest to a curve.

Nearest means the smallest maximum deviation over the 256 values. The search is exact by exclusion: the
deviation of (v, V, c) is the largest of three parts, that of the rising side, which depends on (v, c) only,
that of the core, on (v, V), and that of the falling side, on (V, c). A part that exceeds the best deviation
so far excludes all triples that contain it.

A curve that is 1 at an end of the domain keeps its core to that end. Ties are broken by the smaller v, then
the larger V, then the smaller c. The complement bit is tried only if no plain triple is within `REFUSED` of
the curve, as for one that is low in the middle and high on both sides.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from plugins.board_vectors import Triple
from plugins.curves import Curve, degrees_by_distance
from plugins.kernels.fit import best_triple

REFUSED: Final = 0.25
"""A larger deviation is refused unless the tolerance allows it."""

DOUBTFUL: Final = 0.1
"""A larger deviation is a warning."""

FULL: Final = 1.0 - 1e-9
"""Degrees from here on count as 1."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Three bytes, and the deviation of their degrees."""

    triple: Triple
    deviation: float


def fit(curve: Curve) -> Fitted:
    """Return the triple nearest to the curve."""
    plain = fit_plain(curve)
    if plain.deviation <= REFUSED:
        return plain
    opposite = fit_plain(1.0 - curve)
    if opposite.deviation >= plain.deviation:
        return plain
    v, V, g = opposite.triple
    return Fitted((v, V, g ^ 128), opposite.deviation)


def fit_plain(curve: Curve) -> Fitted:
    """Return the triple without complement nearest to the curve."""
    wanted = np.ascontiguousarray(curve, dtype=np.float64)
    v, V, c, deviation = best_triple(
        wanted, degrees_by_distance(), bool(curve[0] >= FULL), bool(curve[255] >= FULL)
    )
    return Fitted((int(v), int(V), int(c)), float(deviation))
