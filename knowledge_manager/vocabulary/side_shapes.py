"""Shapes of the sides of a curve: straight, gaussian, or modified by hedges.

A shape is one word or two, the outer one first: `straight`, `gaussian`, `very`, `very gaussian`. `dual_very`
applies *very* to the complement. With u the fraction of the way up, the degree is outer(inner(u)).
"""

from collections.abc import Callable
from typing import Any, Final

from dens.config.problems import did_you_mean, listed
from knowledge_manager.vocabulary.hedges import HEDGES

STRAIGHT: Final = "straight"
GAUSSIAN: Final = "gaussian"
_DUAL: Final = "dual_"

GAUSSIAN_SPREAD: Final = 3.3290
"""Width of a gaussian side in standard deviations: at its foot the degree is 1/255."""

_E: Final = 2.718281828459045


def _normal(u: Any) -> Any:
    return _E ** (-0.5 * (GAUSSIAN_SPREAD * (1.0 - u)) ** 2)


def _dual(bend: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda u: 1.0 - bend(1.0 - u)


_BENDING: Final = {name: hedge for name, hedge in HEDGES.items() if not hedge.turns_over}

SIDES: Final[dict[str, Callable[[Any], Any]]] = {
    STRAIGHT: lambda u: u,
    GAUSSIAN: _normal,
    **{name: hedge.bend for name, hedge in _BENDING.items()},
    **{f"{_DUAL}{name}": _dual(hedge.bend) for name, hedge in _BENDING.items()},
}
"""Every side function by its word; each takes a fraction or an array of fractions, as hedges do."""


def fault_of_side(shape: str) -> str:
    """Return why a shape is invalid, or nothing."""
    words = shape.split()
    for word in words:
        if word not in SIDES:
            return f'unknown side shape "{word}" ({listed(list(SIDES), 16)}){did_you_mean(word, SIDES)}'
    if not 1 <= len(words) <= 2:
        return f'invalid side shape "{shape}"; use one word or two, such as gaussian or very gaussian'
    if len(words) == 2 and (words[0] in (STRAIGHT, GAUSSIAN) or words[1] == STRAIGHT):
        return f'invalid side shape "{shape}": the first word must be a hedge, the second not straight'
    return ""


def side_degree(shape: str, u: Any) -> Any:
    """Return the degree at a fraction of the way up a side (or at each of an array). At the foot it is 0,
    also for shapes that do not reach 0.
    """
    is_up = u > 0.0
    for word in reversed(shape.split()):
        u = SIDES[word](u)
    return u * is_up
