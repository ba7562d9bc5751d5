"""The structure of pattern blocks, as docs/reference/vector-format.md lays them down.

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
SUM_OF_PAIRS = 5


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
    """Check the block of a Takagi-Sugeno function: `coefficients` bytes for each rule. A generator has two
    for each centre, then whole, then k weights unless that is 0.
    """
    length = b[at]
    function = b[at + 1]
    if k < 2:
        return at + 1, "a break-down function needs at least two constraints"
    if function < NAMED_FUNCTIONS:
        if length != 1:
            return at, "a named function carries no table"
        return None
    generator = function == GENERATOR and coefficients == 1
    if function > SUM_OF_PAIRS or (function == GENERATOR and not generator):
        return at + 1, "unknown function"
    if length < 2 or not 2 <= b[at + 2] <= (16 if generator else 8):
        return at, "a table has 2 to 8 regions along each side, a generator 2 to 16"
    regions = b[at + 2]
    size = coefficients * regions * regions
    if function & 1:
        if k == 2:
            return at + 1, "one pair has one table"
        size *= k * (k - 1) // 2
    size += regions + (4 if function == SUM_OF_PAIRS else 2)
    if generator:
        size = 3 + 3 * regions
        if length >= size and b[at + size]:
            size += k
    if length != size:
        return at, "the block's length does not agree with its tables"
    for i in range(at + 4, at + 3 + regions):
        if b[i - 1] >= b[i]:
            return i, "the regions' centres must rise"
    if generator:
        for i in range(at + 5 + regions, at + 3 + 3 * regions, 2):
            if (b[i - 2] << 8 | b[i - 1]) <= (b[i] << 8 | b[i + 1]):
                return i, "a generator must fall"
    return None


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
