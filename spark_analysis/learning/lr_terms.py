"""Learnt terms of the form `lr`: a core and two independent sides, read from a density and not fitted to
bytes.
"""

from typing import Any, Final

import numpy as np

from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.terms import Lr
from plugins.authoring.terms import Curve, FittedTerm
from plugins.curves import domain_values, fuzzifier_curve

CORE: Final = 0.9
"""Density from which a value belongs to the core."""
HALF: Final = 0.5
STEPS: Final = 3
"""Minimum width of a side in bytes: byte-based languages cannot express a steeper one."""
_LAST: Final = 255


def lr_fitted(wanted: Curve, attribute: Attribute) -> FittedTerm:
    """Return the term whose core is where a single-peaked density is high, with the midpoints of its sides at
    half the density; a core at an end of the domain is unbounded there.
    """
    values = domain_values(attribute)
    core = np.flatnonzero(wanted >= CORE)
    first, last = int(core[0]), int(core[-1])
    lower = None if first == 0 else _number(values[first], attribute)
    upper = None if last == _LAST else _number(values[last], attribute)
    left = 0.0 if lower is None else 2 * (lower - _crossing(wanted, values, first, -1))
    right = 0.0 if upper is None else 2 * (_crossing(wanted, values, last, 1) - upper)
    if lower is not None:
        left = max(left, STEPS * float(values[first] - values[first - 1]))
    if upper is not None:
        right = max(right, STEPS * float(values[last + 1] - values[last]))
    term = Lr(lower, upper, _number(left, attribute), _number(right, attribute))
    curve = fuzzifier_curve(term, values)
    return FittedTerm(_written(term), curve, float(np.abs(curve - wanted).max()))


def _crossing(wanted: Curve, values: Curve, at: int, step: int) -> float:
    """Return the value at which the density falls to one half, interpolated between two bytes."""
    while 0 <= at + step <= _LAST and wanted[at + step] > HALF:
        at += step
    beyond = at + step
    if not 0 <= beyond <= _LAST:
        return float(values[at])
    share = (wanted[at] - HALF) / (wanted[at] - wanted[beyond])
    return float(values[at] + share * (values[beyond] - values[at]))


def _number(value: float, attribute: Attribute) -> float:
    return round(float(value), max(attribute.decimals, 1))


def _written(term: Lr) -> dict[str, Any]:
    ends = {"lower": term.lower, "upper": term.upper}
    sides = {"left": term.left, "right": term.right}
    kept = {name: value for name, value in ends.items() if value is not None}
    return {"lr": kept | {name: width for name, width in sides.items() if width}}
