"""Every aggregator there is: how several degrees become one, by the number in byte 5 of a vector.

This is the only table. Each binary number below is one property of all aggregators, its last digit that of
aggregator 0. So an aggregator is a column; to add one, fill in its column, number and name. They are plain
integers because the build for boards inlines them, so the table costs nothing there.

Where the degrees are worked out: `watchdog.aggregate` (0 to 6), `watchdog.breakdown` (7, 8) and
`watchdog.pattern` (14, 15). Plain functions share one file because a board whose stack has 1,800 bytes shares
their loops. The properties in tests/plugins/fuzzy/test_aggregators.py are tested for every member and name
what a new one lacks.
"""

MIN = 0
MAX = 1
PRODUCT = 2
ARITHMETIC_MEAN = 3
GEOMETRIC_MEAN = 4
HARMONIC_MEAN = 5
WEIGHTED_MEAN = 6
TAKAGI_SUGENO_0 = 7
TAKAGI_SUGENO_1 = 8
PATTERN_BREAKDOWN = 14
PATTERN_EXACT = 15

KNOWN_AGGREGATORS = 0b1100000111111111
"""Those there are; every runtime refuses the others."""
WITH_BLOCK = 0b1100000111000000
"""Their vectors carry a pattern block: weights, a table of rules, a pattern."""
WITH_PATTERN = 0b1100000000000000
"""They are written as a pattern of predicates; all others by their name."""
WITH_RULES = 0b0000000110000000
"""They evaluate rules over pairs of degrees, which may rise and fall."""
ANY_ZERO_IS_ZERO = 0b0000000000110101
"""One degree of 0 makes 0 of the whole."""
UNMOVED_BY_ONE = 0b0000000000000101
"""A degree of 1 changes nothing."""
AT_MOST_LARGEST = 0b0000000001111111
"""They never exceed the largest degree."""
AT_MOST_SMALLEST = 0b0000000000000101
"""They never exceed the smallest degree."""

MOST_BASIC = 5
"""The numbers up to this one every board works out; what is above goes through `watchdog.score.combine`."""
SUMMED_FROM_ZERO = 13
"""`kind & SUMMED_FROM_ZERO` is 0 for min and product, which begin at 255, and for no other."""

AGGREGATOR_NAMES = {
    MIN: "min",
    MAX: "max",
    PRODUCT: "product",
    ARITHMETIC_MEAN: "arithmetic_mean",
    GEOMETRIC_MEAN: "geometric_mean",
    HARMONIC_MEAN: "harmonic_mean",
    WEIGHTED_MEAN: "weighted_mean",
    TAKAGI_SUGENO_0: "takagi_sugeno_0",
    TAKAGI_SUGENO_1: "takagi_sugeno_1",
    PATTERN_BREAKDOWN: "pattern_breakdown",
    PATTERN_EXACT: "pattern_exact",
}
"""The name of each, which is also the one in XML except for patterns."""

ASCENDING = (PRODUCT, MIN, HARMONIC_MEAN, GEOMETRIC_MEAN, ARITHMETIC_MEAN, MAX)
"""Those that can be compared: whatever the degrees, each is not above the next (`watchdog.aggregate`)."""


def is_known(aggregator: int) -> bool:
    """Return whether an aggregator has this number."""
    return KNOWN_AGGREGATORS >> aggregator & 1 == 1


def has_block(aggregator: int) -> bool:
    """Return whether vectors with this aggregator carry a pattern block."""
    return WITH_BLOCK >> aggregator & 1 == 1
