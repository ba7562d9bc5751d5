"""The search for the triple (v, V, c) that stays nearest to a curve.

`plugins.fuzzy.authoring.compiler.fit` says its definition.

`by_distance[c, d]` is the degree of slope code c at distance d from the core. All codes from 0 (flattest) to
127 (crisp) are searched. NumPy is fast enough (some milliseconds per curve), so a subscription is compiled
without Numba.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

CODES: Final = 128
SIZE: Final = 256
_EXCLUDED: Final = 2.0
"""Deviation of what is not searched further; degrees differ by 1 at most."""
_COARSE: Final = 8
"""Step of the grid that gives the first bound."""
_SAMPLED: Final = range(1, SIZE, 16)
"""Distances that are looked at first: neighbours deviate alike, so a few distant ones exclude most pairs."""
_CHUNK: Final = 4096
"""Pairs of core end and code that are judged at a time, to bound memory."""


def _side(wanted: Floats, by_distance: Floats, bound: float, step: int) -> Floats:
    """Return for every (core end, code) on the grid of this step the largest deviation outside of the core,
    or 2 where it exceeds `bound`.

    Applied to the curve it is the rising side, below v; to the mirrored curve the falling side, above V.
    """
    sampled = np.zeros((SIZE, CODES))
    for distance in _SAMPLED:
        gap = np.abs(wanted[:-distance, None] - by_distance[:, distance])
        np.maximum(sampled[distance:], gap, out=sampled[distance:])
    on_grid = np.zeros((SIZE, CODES), bool)
    on_grid[::step, ::step] = True
    ends, codes = np.nonzero(on_grid & (sampled <= bound))
    deviations = np.full((SIZE, CODES), _EXCLUDED)
    for begin in range(0, len(ends), _CHUNK):
        end, code = ends[begin : begin + _CHUNK], codes[begin : begin + _CHUNK]
        longest = int(end.max())
        positions = end[:, None] - np.arange(1, longest + 1)
        gap = np.abs(by_distance[code, 1 : longest + 1] - wanted[positions])
        largest = np.where(positions >= 0, gap, 0.0).max(axis=1, initial=0.0)
        deviations[end, code] = np.where(largest <= bound, largest, _EXCLUDED)
    return deviations


def _search(
    wanted: Floats, by_distance: Floats, first_full: bool, last_full: bool, bound: float, step: int
) -> tuple[int, int, int, float]:
    """Return the best triple on the grid of this step that is not worse than `bound`; v is −1 if there is
    none.
    """
    rising = _side(wanted, by_distance, bound, step)
    falling = _side(wanted[::-1], by_distance, bound, step)[::-1]
    lasts = np.array([SIZE - 1]) if last_full else np.arange(SIZE - 1, -1, -step)[::-1]
    best_v, best_V, best_code, best = -1, -1, -1, bound
    for v in range(0, 1 if first_full else SIZE, step):
        if rising[v].min() > best:
            continue
        core = np.maximum.accumulate(1.0 - wanted[v:])
        ends = lasts[lasts >= v]
        ends = ends[core[ends - v] <= best]
        if not len(ends):
            continue
        deviation = np.maximum(np.maximum(rising[v], falling[ends]), core[ends - v][:, None])
        least = deviation.min()
        if least < best or (least == best and best_v < 0):
            row = int(np.flatnonzero(deviation.min(axis=1) == least)[-1])
            best_v, best_V, best = v, int(ends[row]), float(least)
            best_code = int(np.flatnonzero(deviation[row] == least)[0])
    return best_v, best_V, best_code, best


def best_triple(
    wanted: Floats, by_distance: Floats, first_full: bool, last_full: bool
) -> tuple[int, int, int, float]:
    """Return (v, V, c, deviation): least deviation, then smaller v, larger V, smaller c.

    A coarse grid finds a bound first; with it the fine search leaves out almost everything early.
    `first_full` and `last_full` keep the core to that end of the domain.
    """
    _, _, _, bound = _search(wanted, by_distance, first_full, last_full, _EXCLUDED, _COARSE)
    return _search(wanted, by_distance, first_full, last_full, bound, 1)
