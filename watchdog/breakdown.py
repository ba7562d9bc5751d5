"""Functions of degrees broken down into pairs: Takagi-Sugeno rules in integers (takagi_sugeno_0 and _1).

A table divides both sides of the square of two degrees into regions around rising centres. A degree belongs
to the two centres next to it, linearly by its distance, so four rules fire; the degree of a rule is the
product of its two memberships and its consequent is

    order 0    y = c
    order 1    y = c + (d·(a - centre of a) + e·(b - centre of b)) / 64      with d and e in -128..127

and the value of a pair is the fuzzy mean Σw·y/Σw, the value of a subscription the mean over its pairs. The
tables below stand for the geometric and the harmonic mean. They were fitted by reweighted least squares for
the smallest largest error where both degrees are above 0.1, under the condition that one 0 gives 0:

    function         order   bytes   largest error above 0.1   mean error above 0.1
    geometric mean   0       43      3.06/255                  1.132/255
    geometric mean   1       81      1.17/255                  0.297/255
    harmonic mean    0       43      5.69/255                  1.793/255
    harmonic mean    1       81      1.51/255                  0.368/255

A table is regions | centres | one or three bytes for each rule, row by row; that is also its form in a
block.
"""

from watchdog.blocks import NAMED_FUNCTIONS, TABLE_PER_PAIR

_GEOMETRIC_0 = (
    b"\x06\x00\x0e\x24\x4a\x8c\xff\x00\x00\x00\x00\x00\x00\x00\x11\x19\x24\x31\x42\x00\x19\x24"
    b"\x32\x47\x61\x00\x24\x32\x4c\x66\x8b\x00\x31\x47\x66\x8e\xbf\x00\x42\x61\x8b\xbf\xff"
)
_GEOMETRIC_1 = (
    b"\x05\x00\x18\x3c\x82\xff\x00\x00\x00\x00\x37\x00\x00\x53\x00\x00\x79\x00\x00\x7f\x00\x00"
    b"\x00\x37\x18\xf8\xf8\x26\xf4\xf3\x38\xef\xf0\x4f\xe8\xee\x00\x00\x53\x26\xf3\xf4\x3c\xec"
    b"\xec\x59\xe3\xe8\x7c\xd9\xe5\x00\x00\x79\x38\xf0\xef\x59\xe8\xe3\x82\xdd\xdd\xb6\xcf\xd8"
    b"\x00\x00\x7f\x4f\xee\xe8\x7c\xe5\xd9\xb6\xd8\xcf\xff\xc9\xc9"
)
_HARMONIC_0 = (
    b"\x06\x00\x0e\x24\x4a\x8c\xff\x00\x00\x00\x00\x00\x00\x00\x11\x15\x18\x1a\x1b\x00\x15\x27"
    b"\x33\x3c\x41\x00\x18\x33\x4d\x61\x73\x00\x1a\x3c\x61\x90\xb9\x00\x1b\x41\x73\xb9\xff"
)
_HARMONIC_1 = (
    b"\x05\x00\x18\x3c\x82\xff\x00\x00\x00\x00\x33\x00\x00\x21\x00\x00\x1d\x00\x00\x15\x00\x00"
    b"\x00\x33\x17\xff\xff\x23\x07\xf2\x29\x0b\xee\x2c\x0b\xed\x00\x00\x21\x23\xf2\x07\x3c\xfa"
    b"\xfa\x52\xfe\xf1\x61\x02\xec\x00\x00\x1d\x29\xee\x0b\x52\xf1\xfe\x82\xf1\xf1\xac\xf5\xe9"
    b"\x00\x00\x15\x2c\xed\x0b\x61\xec\x02\xac\xe9\xf5\xff\xe9\xe9"
)


def _segment(table: bytes | bytearray, centres: int, regions: int, a: int) -> int:
    """Return the region on whose right side a lies; the last one has no right side."""
    m = 0
    while m < regions - 2 and a >= table[centres + m + 1]:
        m += 1
    return m


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


def named(function: int, order: int) -> bytes:
    """Return the table of a function that has its table in this module."""
    if function == 0:
        return _GEOMETRIC_0 if order == 0 else _GEOMETRIC_1
    return _HARMONIC_0 if order == 0 else _HARMONIC_1


def evaluate(block: bytes | bytearray, at: int, degrees: bytes | bytearray, n: int, order: int) -> int:
    """Return the value of the function whose length byte stands at block[at], over the first n degrees.

    The block is well-formed (`watchdog.blocks`), so n is at least 2.
    """
    function = block[at + 1]
    table = block
    start = at + 2
    if function < NAMED_FUNCTIONS:
        table = named(function, order)
        start = 0
    regions = table[start]
    rules = start + 1 + regions
    step = 0
    if function == TABLE_PER_PAIR:
        step = regions * regions * (1 if order == 0 else 3)
    total = 0
    i = 0
    while i < n:
        j = i + 1
        while j < n:
            total += pair_value(table, start, rules, order, degrees[i], degrees[j])
            rules += step
            j += 1
        i += 1
    pairs = n * (n - 1) >> 1
    return ((total << 1) + pairs) // (pairs << 1)
