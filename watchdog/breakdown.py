"""Functions of degrees broken down into pairs: Takagi-Sugeno rules in integers (takagi_sugeno_0 and _1).

A *table* divides both sides of the square of two degrees into regions around rising centres. A degree belongs
to the two centres next to it, linearly by its distance, so four rules fire; the degree of a rule is the
product of its two memberships and its consequent is

    order 0    y = c
    order 1    y = c + (d·(a - centre of a) + e·(b - centre of b)) / 64      with d and e in -128..127

and the value of a pair is the fuzzy mean Σw·y/Σw, the value of a subscription the mean over its pairs or, for
functions that give them unequal parts (x·y + z/3), their sum less an offset.

That mean is wrong for whatever multiplies from three degrees on. A *generator* φ, falling and 0 at full
degree, leads to a domain in which such functions are sums: there the rule of a pair is (φ(a) + φ(b)) / 2, the
mean over all pairs is that over all degrees, and φ leads back. φ is rules of order 0 over the centres of one
degree, so straight between them; docs/decisions/0017-break-down.md shows why the order makes no difference
then, and that two degrees mixed in every proportion are the worst case for any number of them. A generator
whose first centre is above 0 has no value at 0: one degree of 0 gives 0.

    function         φ          centres   largest error, any number of degrees
    geometric mean   -log a     12        2.55/255
    harmonic mean    1/a - 1    16        4.8/255

A table is regions | centres | one or three bytes for each rule, row by row, before which a sum has its offset
in two; a generator is regions | centres | two bytes of φ for each | whole | weights, where whole 0 says that
all weigh the same. All forms are those of a block.
"""

from watchdog.blocks import GENERATOR, NAMED_FUNCTIONS, ONE_TABLE, SUM_OF_PAIRS

_LOGARITHM = (
    b"\x0c\x01\x03\x07\x0f\x1c\x2e\x45\x5f\x7e\xa6\xd8\xff\x7f\xdd\x66\x88\x53\x02\x41\x7c\x33"
    b"\x3c\x27\xc2\x1e\x70\x17\x02\x10\x68\x09\xf6\x03\xd6\x00\x03\x00"
)
_RECIPROCAL = (
    b"\x10\x01\x02\x03\x04\x07\x0b\x0f\x15\x1f\x2e\x41\x5a\x77\x9b\xc6\xff\xff\xfc\x82\x08\x56"
    b"\x61\x3d\xf6\x23\x07\x16\x5f\x10\x30\x0b\x40\x07\x38\x04\x8c\x02\xf0\x01\xda\x01\x27\x00"
    b"\xa7\x00\x4a\x00\x00\x00"
)


def _segment(table: bytes | bytearray, centres: int, regions: int, a: int) -> int:
    """Return the region on whose right side a lies; the last one has no right side."""
    low = 0
    high = regions - 2
    while low < high:
        m = (low + high + 1) >> 1
        if a >= table[centres + m]:
            low = m
        else:
            high = m - 1
    return low


def _consequent(table: bytes | bytearray, rule: int, order: int, from_a: int, from_b: int) -> int:
    """Return 64·y of the rule whose coefficients stand at `rule`, at these distances from its centres."""
    if order == 0:
        return table[rule] << 6
    return (
        (table[rule] << 6)
        + ((table[rule + 1] ^ 128) - 128) * from_a
        + ((table[rule + 2] ^ 128) - 128) * from_b
    )


def pair_value(table: bytes | bytearray, at: int, rules: int, order: int, a: int, b: int) -> int:
    """Return the fuzzy mean of the rules that fire for the degrees a and b.

    The regions stand at table[at], the coefficients of all rules from table[rules] on.
    """
    regions = table[at]
    centres = at + 1
    m = _segment(table, centres, regions, a)
    s = _segment(table, centres, regions, b)
    from_a = a - table[centres + m]
    from_b = b - table[centres + s]
    a_width = table[centres + m + 1] - table[centres + m]
    b_width = table[centres + s + 1] - table[centres + s]
    a_part = min(max(from_a, 0), a_width)
    b_part = min(max(from_b, 0), b_width)
    size = 1 if order == 0 else 3
    rule = rules + size * (m * regions + s)
    low = (
        (b_width - b_part) * _consequent(table, rule, order, from_a, from_b)
        + b_part * _consequent(table, rule + size, order, from_a, from_b - b_width)
        + (b_width >> 1)
    ) // b_width
    rule += size * regions
    from_a -= a_width
    high = (
        (b_width - b_part) * _consequent(table, rule, order, from_a, from_b)
        + b_part * _consequent(table, rule + size, order, from_a, from_b - b_width)
        + (b_width >> 1)
    ) // b_width
    value = (((a_width - a_part) * low + a_part * high + (a_width >> 1)) // a_width + 32) >> 6
    return min(max(value, 0), 255)


def named(function: int) -> bytes:
    """Return the generator of a function that has it in this module."""
    return _LOGARITHM if function == 0 else _RECIPROCAL


def generated(table: bytes | bytearray, at: int, a: int) -> int:
    """Return φ(a) of the generator whose regions stand at table[at]; below its first centre that one's."""
    regions = table[at]
    m = _segment(table, at + 1, regions, a)
    centre = table[at + 1 + m]
    width = table[at + 2 + m] - centre
    part = min(max(a - centre, 0), width)
    m = at + 1 + regions + (m << 1)
    return (
        (width - part) * (table[m] << 8 | table[m + 1])
        + part * (table[m + 2] << 8 | table[m + 3])
        + (width >> 1)
    ) // width


def generated_value(table: bytes | bytearray, at: int, degrees: bytes | bytearray, n: int) -> int:
    """Return the degree whose φ is the weighted sum of the φ of the first n, divided by `whole`; 0 beyond the
    first centre's.
    """
    regions = table[at]
    weights = at + 1 + 3 * regions
    whole = table[weights]
    total = 0
    i = 0
    while i < n:
        i += 1
        weight = table[weights + i] if whole else 1
        if weight:
            if degrees[i - 1] == 0 and table[at + 1]:
                return 0
            total += weight * generated(table, at, degrees[i - 1])
    if whole == 0:
        whole = n
    i = at + 1 + regions
    high = whole * (table[i] << 8 | table[i + 1])
    if total > high:
        return 0
    m = at + 1
    low = high
    while m < at + regions:
        m += 1
        i += 2
        high = low
        low = whole * (table[i] << 8 | table[i + 1])
        if low <= total:
            break
    high -= low
    low = max(total - low, 0)
    while high >= 4194304:
        high >>= 1
        low >>= 1
    return table[m] - ((table[m] - table[m - 1]) * low + (high >> 1)) // high


def valued(
    function: int, table: bytes | bytearray, at: int, degrees: bytes | bytearray, n: int, order: int
) -> int:
    """Return the value of the table or generator at table[at] over the first n degrees."""
    if function == GENERATOR:
        return generated_value(table, at, degrees, n)
    regions = table[at]
    rules = at + 1 + regions
    step = 0
    if function != ONE_TABLE:
        step = regions * regions * (1 if order == 0 else 3)
    total = 0
    if function == SUM_OF_PAIRS:
        total -= table[rules] << 8 | table[rules + 1]
        rules += 2
    i = 0
    while i < n:
        j = i + 1
        while j < n:
            total += pair_value(table, at, rules, order, degrees[i], degrees[j])
            rules += step
            j += 1
        i += 1
    if function == SUM_OF_PAIRS:
        return min(max(total, 0), 255)
    pairs = n * (n - 1) >> 1
    return ((total << 1) + pairs) // (pairs << 1)


def evaluate_function(
    block: bytes | bytearray, at: int, degrees: bytes | bytearray, n: int, order: int
) -> int:
    """Return the value of the function whose length byte stands at block[at], over the first n degrees.

    The block is well-formed (`watchdog.blocks`), so n is at least 2.
    """
    function = block[at + 1]
    at += 2
    if function < NAMED_FUNCTIONS:
        block = named(function)
        at = 0
        function = GENERATOR
    return valued(function, block, at, degrees, n, order)
