"""Profiles: how the degree rises along the sloped side of a shape.

With u the fraction of the way up, from 0 at the foot to 1 at the top, the degree is the polyline through the
points (Q[k]/65535, k/255). A straight side has Q[k] = 257k. A profile byte is inner + 16·outer: the degree is
outer(inner(u)), each of them one of the functions below. The golden file of the tests has all tables and is
normative.
"""

import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Final

from plugins.atopss.shapes.scale import BYTE_TOP, FULL

STRAIGHT: Final = 0

INDEED: Final = 5
GAUSSIAN: Final = 10
"""The side of a normal distribution, clipped where its degree falls below 1/255. It is a curve, not a hedge:
it can only be an inner function."""

HEDGES: Final = {"very": 1, "extremely": 2, "more_or_less": 3, "slightly": 4, "indeed": INDEED}
"""The hedges of a side, by name (`knowledge_manager.vocabulary.hedges`)."""

DUALS: Final = {1: 6, 2: 7, 3: 8, 4: 9, 5: 5, 6: 1, 7: 2, 8: 3, 9: 4}
"""h and 1 − h(1 − u): what a hedge after *not* becomes before it."""

_CANCELLING: Final = frozenset({(1, 3), (3, 1), (2, 4), (4, 2), (6, 8), (8, 6), (7, 9), (9, 7)})

_FOOT: Final = math.sqrt(2 * math.log(BYTE_TOP))
"""The deviations at which a normal curve is 1/255 of its height."""

_PARTS: Final = 65535
"""Resolution of a table."""

_ROUNDING: Final = 1e-6
"""Allowed floating-point error of a whole number before it is rounded up."""

_EXPONENTS: Final = {1: 2.0, 2: 3.0, 3: 1 / 2, 4: 1 / 3}


def profile(inner: int, outer: int = 0) -> int:
    """Return the byte of a profile; a single function is the inner one."""
    return inner + 16 * outer


def is_profile(byte: int) -> bool:
    """Return whether a byte is the profile of a curved side: known functions, an inner one if there is an
    outer one, and no pair that cancels.
    """
    inner, outer = byte & 15, byte >> 4
    return 1 <= inner <= GAUSSIAN and outer < GAUSSIAN and (inner, outer) not in _CANCELLING


def bent(byte: int, code: int) -> int | None:
    """Return the profile of a side after one more function; None without room for it, or if
    both cancel.
    """
    if byte == STRAIGHT:
        return code
    made = profile(byte, code)
    return made if byte <= GAUSSIAN and is_profile(made) else None


@cache
def table(byte: int) -> tuple[int, ...]:
    """Return Q: for each k how far up a side the degree k/255 is reached, in parts of 65535."""
    if byte == STRAIGHT:
        return tuple(257 * k for k in range(BYTE_TOP + 1))
    inner, outer = _INVERSES[byte & 15], _INVERSES[byte >> 4]
    found = [0]
    for k in range(1, BYTE_TOP + 1):
        wanted = math.ceil(_PARTS * inner(outer(k / BYTE_TOP)) - _ROUNDING)
        found.append(min(_PARTS - BYTE_TOP + k, max(found[-1] + 1, wanted)))
    return tuple(found)


@cache
def levels(byte: int) -> tuple[int, ...]:
    """Return for each degree, in 510ths, how far up a side it is reached, in parts of `FULL`: the table, and
    the middle between each two of its places.
    """
    places = table(byte)
    between = [low + high for low, high in pairwise(places)]
    return (
        *(part for place, middle in zip(places, between, strict=False) for part in (2 * place, middle)),
        FULL,
    )


def words(byte: int) -> str:
    """Return the functions of a profile as people say them, the outer one first.

    >>> words(profile(10, 1))
    'very gaussian'
    """
    names = {code: name for name, code in HEDGES.items()} | {GAUSSIAN: "gaussian"}
    names |= {code: f"dual {names[DUALS[code]]}" for code in range(6, GAUSSIAN)}
    return " ".join(names[code] for code in (byte >> 4, byte & 15) if code)


def _inverse(code: int) -> Callable[[float], float]:
    if code == 0:
        return lambda degree: degree
    if code == INDEED:
        return _inverse_indeed
    if code == GAUSSIAN:
        return lambda degree: 1 - math.sqrt(-2 * math.log(degree)) / _FOOT if degree > 0 else 0.0
    if code in _EXPONENTS:
        exponent = 1 / _EXPONENTS[code]
        return lambda degree: degree**exponent
    plain = _inverse(DUALS[code])
    return lambda degree: 1 - plain(1 - degree)


def _inverse_indeed(degree: float) -> float:
    if degree < 0.5:
        return math.sqrt(degree / 2)
    return 1 - math.sqrt((1 - degree) / 2)


_INVERSES: Final = tuple(_inverse(code) for code in range(GAUSSIAN + 1))
