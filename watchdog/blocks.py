"""The structure of pattern blocks, as docs/vector-format.md lays them down.

A block is its length byte and what follows; `watchdog.aggregators` says which aggregators have one. Every
meaning has one spelling: what could be written shorter or in another order is refused, so equal subscriptions
are equal bytes.
"""

from watchdog.aggregators import TAKAGI_SUGENO_0, WEIGHTED_MEAN, WITH_PATTERN, WITH_RULES
from watchdog.tokens import MOST_NORMS, NOT, tokens_fault

NAMED_FUNCTIONS = 2
"""Break-down functions below this number (0 geometric mean, 1 harmonic mean) have their generators in the
code.
"""
ONE_TABLE = 2
TABLE_PER_PAIR = 3
GENERATOR = 4
MOST_CENTRES = 16
"""Of a generator; a table has at most 8 regions along each side."""


def block_fault(b: bytes | bytearray, at: int, aggregator: int, k: int) -> tuple[int, str] | None:
    """Return where and why the block whose length byte stands at `at` is malformed for k predicates, or None.

    The caller has made sure that the whole block lies within b.
    """
    length = b[at]
    if length == 0:
        return at, "a pattern block is never empty"
    if aggregator == WEIGHTED_MEAN:
        return _weights_fault(b, at, k)
    if WITH_RULES >> aggregator & 1:
        return _table_fault(b, at, k, 1 if aggregator == TAKAGI_SUGENO_0 else 3)
    if not WITH_PATTERN >> aggregator & 1:
        return at, "no code says which blocks this aggregator has"
    end = at + 1 + length
    at += 1
    if b[at] > NOT and length > 1:
        if k < 2 or b[at] > NOT + MOST_NORMS:
            return at, "a T-norm for one predicate" if k < 2 else "unknown token"
        at += 1
    if at + 1 == end:
        return _two_level_fault(b[at], at, k)
    return tokens_fault(b, at, end, k)


def _weights_fault(b: bytes | bytearray, at: int, k: int) -> tuple[int, str] | None:
    if b[at] != k:
        return at, "a weighted mean needs one weight for each constraint"
    for i in range(at + 1, at + 1 + k):
        if b[i]:
            return None
    return at + 1, "all weights are 0; give at least one predicate a weight"


def _table_fault(b: bytes | bytearray, at: int, k: int, coefficients: int) -> tuple[int, str] | None:
    """Check the block of a Takagi-Sugeno function: `coefficients` bytes for each rule."""
    length = b[at]
    function = b[at + 1]
    if k < 2:
        return at + 1, "a break-down function needs at least two constraints"
    if function < NAMED_FUNCTIONS:
        if length != 1:
            return at, "a named function carries no table"
        return None
    if function == GENERATOR and coefficients == 1:
        return _generator_fault(b, at, k)
    if function > TABLE_PER_PAIR:
        return at + 1, "unknown function"
    if length < 2 or not 2 <= b[at + 2] <= 8:
        return at, "a table has 2 to 8 regions along each side"
    regions = b[at + 2]
    if function == ONE_TABLE:
        tables = 1
    elif k == 2:
        return at + 1, "one pair has one table"
    else:
        tables = k * (k - 1) // 2
    if length != 2 + regions + tables * coefficients * regions * regions:
        return at, "the block's length does not agree with its tables"
    return _centres_fault(b, at + 3, regions)


def _centres_fault(b: bytes | bytearray, at: int, regions: int) -> tuple[int, str] | None:
    for i in range(at + 1, at + regions):
        if b[i - 1] >= b[i]:
            return i, "the regions' centres must rise"
    return None


def _generator_fault(b: bytes | bytearray, at: int, k: int) -> tuple[int, str] | None:
    """Check a generator: regions, centres, a falling φ of two bytes each, whole, weights unless that is 0."""
    length = b[at]
    if length < 2 or not 2 <= b[at + 2] <= MOST_CENTRES:
        return at, "a generator has 2 to 16 centres"
    regions = b[at + 2]
    weights = at + 3 + 3 * regions
    if length < 3 + 3 * regions or length != 3 + 3 * regions + (k if b[weights] else 0):
        return at, "the block's length does not agree with its generator"
    values = at + 3 + regions
    for i in range(values + 2, weights, 2):
        if (b[i - 2] << 8 | b[i - 1]) <= (b[i] << 8 | b[i + 1]):
            return i, "a generator must fall"
    if b[weights]:
        same = total = 0
        for i in range(weights + 1, weights + 1 + k):
            total += b[i]
            same += b[i] == b[weights + 1]
        if total == 0:
            return weights + 1, "all weights are 0"
        if same == k and total == b[weights]:
            return weights, "equal weights are not written"
    return _centres_fault(b, at + 3, regions)


def _two_level_fault(pattern: int, at: int, k: int) -> tuple[int, str] | None:
    """Check a one-byte pattern: bit 7 the outer connective, bit i a border after predicate i."""
    if k > 8:
        return at, "more than eight predicates need a token string"
    borders = pattern & 127
    every = (1 << k - 1) - 1
    if borders > every:
        return at, "a border after the last predicate"
    if k == 1:
        if pattern:
            return at, "one predicate has no connective"
    elif borders == every:
        return at, "groups of one only; a flat pattern is one group"
    return None
