"""The search for the triple (v, V, c) that stays nearest to a curve.

`plugins.fuzzy.authoring.compiler.fit` says its definition.

`by_distance[c, d]` is the degree of slope code c at distance d from the core. All codes from 0 (flattest) to
127 (crisp) are searched.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float64]

CODES = 128
SIZE = 256


@njit(cache=True)
def _side(wanted: Floats, by_distance: Floats, bound: float, step: int, out: Floats) -> None:
    """Write for every (core end, code) the largest deviation outside of it, or 2 where it exceeds `bound`.

    Step 1 looks at the rising side, below v; step −1 at the falling side, above V, in the mirrored curve.
    """
    for end in range(0, SIZE, step):
        for code in range(0, CODES, step):
            largest = 0.0
            for distance in range(1, end + 1):
                gap = abs(by_distance[code, distance] - wanted[end - distance])
                if gap > largest:
                    largest = gap
                    if largest > bound:
                        largest = 2.0
                        break
            out[end, code] = largest


@njit(cache=True)
def _search(
    wanted: Floats,
    by_distance: Floats,
    first_full: bool,
    last_full: bool,
    bound: float,
    step: int,
    rising: Floats,
    falling: Floats,
) -> tuple[int, int, int, float]:
    """Return the best triple on the grid of this step that is not worse than `bound`; v is −1 if there is
    none.
    """
    _side(wanted, by_distance, bound, step, rising)
    _side(wanted[::-1].copy(), by_distance, bound, step, falling)
    best_v, best_V, best_code, best = -1, -1, -1, bound
    for v in range(0, 1 if first_full else SIZE, step):
        core = 0.0
        for V in range(v, SIZE):
            core = max(core, 1.0 - wanted[V])
            if core > best:
                break
            if (last_full and V != SIZE - 1) or (step > 1 and (SIZE - 1 - V) % step):
                continue
            for code in range(0, CODES, step):
                deviation = max(core, rising[v, code], falling[SIZE - 1 - V, code])
                better = deviation < best or (deviation == best and best_v < 0)
                if better or (deviation == best and v == best_v and best_V < V):
                    best_v, best_V, best_code, best = v, V, code, deviation
    return best_v, best_V, best_code, best


@njit(cache=True)
def best_triple(
    wanted: Floats, by_distance: Floats, first_full: bool, last_full: bool
) -> tuple[int, int, int, float]:
    """Return (v, V, c, deviation): least deviation, then smaller v, larger V, smaller c.

    A coarse grid finds a bound first; with it the fine search leaves out almost everything at the first
    glance. `first_full` and `last_full` keep the core to that end of the domain.
    """
    rising = np.full((SIZE, CODES), 2.0)
    falling = np.full((SIZE, CODES), 2.0)
    _, _, _, bound = _search(wanted, by_distance, first_full, last_full, 2.0, 8, rising, falling)
    return _search(wanted, by_distance, first_full, last_full, bound, 1, rising, falling)
