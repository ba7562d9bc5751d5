"""The degree of one row from the degrees of its constraints, by the integer functions of the boards.

Degrees, weights and patterns are arrays of 64-bit numbers here, so that compiled arithmetic is Python's:
bytes would wrap around or turn unsigned.
"""

from typing import Any

from watchdog.aggregate import aggregate, weighted_mean
from watchdog.aggregators import (
    PATTERN_BREAKDOWN,
    TAKAGI_SUGENO_0,
    WEIGHTED_MEAN,
    WITH_BLOCK,
    WITH_RULES,
)
from watchdog.breakdown import valued
from watchdog.pattern import evaluate_pattern


def combined(kind: int, patterns: Any, at: int, weights: Any, degrees: Any, n: int) -> int:
    """Return the first n degrees combined by this aggregator; `patterns` and `weights` are what some of
    them need. A named function is written out there.
    """
    if WITH_BLOCK >> kind & 1 == 0:
        return aggregate(kind, degrees, n)
    if kind == WEIGHTED_MEAN:
        return weighted_mean(weights, 0, degrees, n)
    if WITH_RULES >> kind & 1:
        return valued(patterns[at + 1], patterns, at + 2, degrees, n, kind - TAKAGI_SUGENO_0)
    return evaluate_pattern(patterns, at, degrees, n, kind == PATTERN_BREAKDOWN)
