"""The structure of pattern blocks, as docs/vector-format.md lays them down.

A block is its length byte and what follows; only the aggregators 6, 7, 8, 14 and 15 have one. Every meaning
has one spelling: what could be written shorter or in another order is refused, so equal subscriptions are
equal bytes.
"""

NAMED_FUNCTIONS = 2
"""Break-down functions below this number (0 geometric mean, 1 harmonic mean) have their tables in the
code.
"""
ONE_TABLE = 2
TABLE_PER_PAIR = 3

AND = 64
OR = 128
NOT = 192
"""Postfix tokens: 0..63 is a predicate, 64 + n an and of n, 128 + n an or of n, 192 a not."""


def has_block(aggregator: int) -> bool:
    """Tell whether vectors with this aggregator carry a pattern block."""
    return 6 <= aggregator <= 8 or aggregator >= 14


def block_fault(b: bytes | bytearray, at: int, aggregator: int, k: int) -> tuple[int, str] | None:
    """Return where and why the block whose length byte stands at `at` is malformed for k predicates, or None.

    The caller has made sure that the whole block lies within b.
    """
    length = b[at]
    if length == 0:
        return at, "a pattern block is never empty"
    if aggregator == 6:
        return _weights_fault(b, at, k)
    if aggregator <= 8:
        return _table_fault(b, at, k, 1 if aggregator == 7 else 3)
    if length == 1:
        return _two_level_fault(b[at + 1], at + 1, k)
    return _postfix_fault(b, at + 1, at + 1 + length, k)


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
    for i in range(at + 3, at + 2 + regions):
        if b[i] >= b[i + 1]:
            return i + 1, "the regions' centres must rise"
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


def _postfix_fault(b: bytes | bytearray, at: int, end: int, k: int) -> tuple[int, str] | None:
    """Check a token string: each predicate once, operands in order, connectives alternating, not a one-byte
    form.
    """
    kinds = []  # type: list[int]  # what each operand on the stack is: 0 a predicate, else AND, OR or NOT
    firsts = []  # type: list[int]  # the lowest predicate below it
    heights = []  # type: list[int]  # connectives on the longest way down
    seen = bytearray(k)
    in_order = True
    pushed = 0
    nots = 0
    while at < end:
        token = b[at]
        kind = token & NOT
        n = token & 63
        if kind == 0:
            if n >= k:
                return at, "a predicate beyond the last constraint"
            if seen[n]:
                return at, "a predicate that was used before"
            seen[n] = 1
            if n != pushed:
                in_order = False
            pushed += 1
            kinds.append(0)
            firsts.append(n)
            heights.append(0)
        elif kind == NOT:
            if n:
                return at, "unknown token"
            if not kinds:
                return at, "a not without an operand"
            if kinds[-1] == NOT:
                return at, "a not of a not"
            nots += 1
            kinds[-1] = NOT
        else:
            if n < 2:
                return at, "a connective joins at least two operands"
            if n > len(kinds):
                return at, "a connective with too few operands"
            height = 0
            first = -1
            for i in range(len(kinds) - n, len(kinds)):
                if kinds[i] == kind:
                    return at, "a connective inside the same connective"
                if firsts[i] < first:
                    return at, "operands out of order"
                first = firsts[i]
                if heights[i] > height:
                    height = heights[i]
            for _ in range(n - 1):
                kinds.pop()
                firsts.pop()
                heights.pop()
            kinds[-1] = kind
            heights[-1] = height + 1
        at += 1
    if len(kinds) != 1:
        return end - 1, "operands without a connective"
    if pushed != k:
        return end - 1, "a constraint that the pattern does not use"
    if k <= 8 and in_order and nots == 0 and heights[0] <= 2:
        return end - 1, "this pattern has a one-byte form"
    return None
