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
from watchdog.blocks import TABLE_PER_PAIR
from watchdog.breakdown import pair_value
from watchdog.pattern import evaluate


def mean_of_rules(patterns: Any, at: int, degrees: Any, n: int, order: int) -> int:
    """Return the mean over all pairs of what the Takagi–Sugeno table at patterns[at] says.

    There stand the function's number, never that of a named one, and the table: regions, centres, rules.
    """
    regions = patterns[at + 1]
    rules = at + 2 + regions
    step = 0
    if patterns[at] == TABLE_PER_PAIR:
        step = regions * regions * (1 if order == 0 else 3)
    total = 0
    for i in range(n):
        for j in range(i + 1, n):
            total += pair_value(patterns, at + 1, rules, order, degrees[i], degrees[j])
            rules += step
    pairs = n * (n - 1) >> 1
    return ((total << 1) + pairs) // (pairs << 1)


def combined(kind: int, patterns: Any, at: int, weights: Any, degrees: Any, n: int) -> int:
    """Return the first n degrees combined by this aggregator; `patterns` and `weights` are what some of
    them need.
    """
    if WITH_BLOCK >> kind & 1 == 0:
        return aggregate(kind, degrees, n)
    if kind == WEIGHTED_MEAN:
        return weighted_mean(weights, 0, degrees, n)
    if WITH_RULES >> kind & 1:
        return mean_of_rules(patterns, at + 1, degrees, n, kind - TAKAGI_SUGENO_0)
    return evaluate(patterns, at, degrees, n, kind == PATTERN_BREAKDOWN)
