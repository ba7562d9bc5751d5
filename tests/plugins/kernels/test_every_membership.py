"""Every membership there is, computed by the boards' own function and compared with the definition.

`watchdog.membership.degree` is compiled as it stands, only its slope table given as an array that the
compiler knows; the definition beside it has a slope table of its own, from γ(c) = 0.5 · 2^(c/18).
"""

import types

import numpy as np
import pytest
from numba import njit

from watchdog import membership

SLOPES = np.array([round(256 * 0.5 * 2 ** (code / 18)) for code in range(127)], dtype=np.int64)


def _boards_degree() -> types.FunctionType:
    names = {**vars(membership), "SLOPES": np.array(list(membership.SLOPES), dtype=np.int64)}
    return types.FunctionType(membership.degree.__code__, names, "degree")


degree = njit(_boards_degree())


@njit
def _differences() -> int:
    different = 0
    for g in range(256):
        code = g & 127
        for v in range(256):
            for V in range(v, 256):
                for x in range(256):
                    distance = v - x if x < v else x - V if x > V else 0
                    if distance == 0:
                        wanted = 255
                    elif code == 127:
                        wanted = 0
                    else:
                        wanted = 255 - min(255, (distance * SLOPES[code] + 128) >> 8)
                    if g & 128:
                        wanted = 255 - wanted
                    if degree(x, v, V, g) != wanted:
                        different += 1
    return different


@pytest.mark.slow
def test_all_two_billion_memberships() -> None:
    assert _differences() == 0
