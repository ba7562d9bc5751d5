"""Profiles: how the degree rises along the sloped side of a shape.

With u the fraction of the way up, from 0 at the foot to 1 at the top, the degree is the polyline through the
points (Q[k]/65535, k/255). A straight side has Q[k] = 257k. A profile byte is inner + 16·outer: the degree is
outer(inner(u)), each of them one of the functions below. The golden file of the tests has all tables and is
normative.
"""

import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise, product
from typing import Final

from knowledge_manager.vocabulary import hedges
from plugins.atopss.shapes.scale import BYTE_TOP, FULL

STRAIGHT: Final = 0

GAUSSIAN: Final = 10
"""The side of a normal distribution, clipped where its degree falls below 1/255. It is a curve, not a hedge:
it can only be an inner function."""

_CODED: Final = {
    name: (hedge.bend, hedge.codes) for name, hedge in hedges.HEDGES.items() if hedge.codes is not None
}

HEDGES: Final = {name: codes.code for name, (_, codes) in _CODED.items()}
"""The codes of hedges of a side, by name."""

DUALS: Final = {codes.code: codes.dual for _, codes in _CODED.values()} | {
    codes.dual: codes.code for _, codes in _CODED.values()
}
"""h and 1 − h(1 − u): what a hedge after *not* becomes before it."""

_CANCELLING: Final = frozenset(
    pair
    for (bend, inner), (undo, outer) in product(_CODED.values(), repeat=2)
    if all(math.isclose(undo(bend(u)), u) for u in (0.2, 0.7))
    for pair in ((inner.code, outer.code), (inner.dual, outer.dual))
)
"""Pairs of functions of which one is the inverse of the other."""

_FOOT: Final = math.sqrt(2 * math.log(BYTE_TOP))
"""The deviations at which a normal curve is 1/255 of its height."""

_PARTS: Final = 65535
"""Resolution of a table."""

_ROUNDING: Final = 1e-6
"""Allowed floating-point error of a whole number before it is rounded up."""


def profile(inner: int, outer: int = 0) -> int:
    """Return the byte of a profile; a single function is the inner one."""
    return inner + 16 * outer


def is_profile(byte: int) -> bool:
    """Return whether a byte is the profile of a curved side: known functions, an inner one if there is an
    outer one, and no pair that cancels.
    """
    inner, outer = byte & 15, byte >> 4
    is_known = (inner in DUALS or inner == GAUSSIAN) and (outer in DUALS or outer == 0)
    return is_known and (inner, outer) not in _CANCELLING


def bent(byte: int, code: int) -> int | None:
    """Return the profile of a side after one more function; None without room for it, or if
    both cancel.
    """
    if byte == STRAIGHT:
        return code
    made = profile(byte, code)
    return made if byte < 16 and is_profile(made) else None


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
    names |= {code: f"dual {names[dual]}" for code, dual in DUALS.items() if code not in names}
    return " ".join(names[code] for code in (byte >> 4, byte & 15) if code)


def _gaussian_inverse(degree: float) -> float:
    return 1 - math.sqrt(-2 * math.log(degree)) / _FOOT if degree > 0 else 0.0


def _dual_inverse(inverse: Callable[[float], float]) -> Callable[[float], float]:
    return lambda degree: 1 - inverse(1 - degree)


_INVERSES: Final[dict[int, Callable[[float], float]]] = {
    STRAIGHT: lambda degree: degree,
    GAUSSIAN: _gaussian_inverse,
    **{codes.dual: _dual_inverse(codes.inverse) for _, codes in _CODED.values()},
    **{codes.code: codes.inverse for _, codes in _CODED.values()},
}
"""The inverse of each function, by code."""
