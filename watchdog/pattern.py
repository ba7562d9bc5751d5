"""Boolean patterns of predicates: exact (pattern_exact) and broken down into pairs (pattern_breakdown).

Exact, and is the minimum, or the maximum and not the complement. Broken down, an and over predicates is the
mean over the minima of its pairs, an or over predicates the maximum over its pairs, which is the maximum of
them all. A connective that joins anything but predicates takes minimum or maximum both ways; so does every
group of one or two. A negated predicate counts as a predicate. How a pattern is written is laid down in
docs/vector-format.md.
"""

from watchdog.tokens import AND, NOT, OR


def _least(degrees: bytearray, start: int, end: int) -> int:
    least = 255
    while start < end:
        if degrees[start] < least:
            least = degrees[start]
        start += 1
    return least


def _most(degrees: bytearray, start: int, end: int) -> int:
    most = 0
    while start < end:
        if degrees[start] > most:
            most = degrees[start]
        start += 1
    return most


def _mean_of_pairs(degrees: bytearray, start: int, end: int) -> int:
    """Return the rounded mean over all pairs of the pair's minimum, for at least two degrees."""
    total = 0
    i = start
    while i < end:
        j = i + 1
        while j < end:
            total += degrees[i] if degrees[i] < degrees[j] else degrees[j]
            j += 1
        i += 1
    n = end - start
    pairs = n * (n - 1) >> 1
    return ((total << 1) + pairs) // (pairs << 1)


def _joined(degrees: bytearray, start: int, end: int, disjunction: bool, by_pairs: bool) -> int:
    if disjunction:
        return _most(degrees, start, end)
    if by_pairs and end - start > 2:
        return _mean_of_pairs(degrees, start, end)
    return _least(degrees, start, end)


def _two_level(pattern: int, degrees: bytearray, n: int, by_pairs: bool) -> int:
    """Evaluate a one-byte pattern: bit 7 set joins the groups by or, bit i ends a group after predicate i."""
    outer_or = pattern >= 128
    result = 0 if outer_or else 255
    start = 0
    i = 0
    while i < n:
        i += 1
        if i == n or pattern >> (i - 1) & 1:
            group = _joined(degrees, start, i, not outer_or, by_pairs)
            if (group > result) == outer_or:
                result = group
            start = i
    return result


def _over_predicates(tokens: bytes | bytearray, at: int, n: int) -> bool:
    """Tell whether the n operands of the connective at `at` are all predicates, plain or negated."""
    while n:
        at -= 1
        if tokens[at] == NOT:
            at -= 1
        if tokens[at] >= AND:
            return False
        n -= 1
    return True


def evaluate(block: bytes | bytearray, at: int, degrees: bytearray, n: int, by_pairs: bool) -> int:
    """Return the degree of the pattern whose length byte stands at block[at], over the first n degrees.

    The bytes n to 2n of `degrees` are used as a stack. The block is well-formed (`watchdog.blocks`).
    """
    end = at + 1 + block[at]
    at += 1
    if end == at + 1:
        return _two_level(block[at], degrees, n, by_pairs)
    top = n
    while at < end:
        token = block[at]
        if token < AND:
            degrees[top] = degrees[token]
            top += 1
        elif token == NOT:
            degrees[top - 1] = 255 - degrees[top - 1]
        else:
            start = top - (token & 63)
            pairs = by_pairs and _over_predicates(block, at, token & 63)
            degrees[start] = _joined(degrees, start, top, token >= OR, pairs)
            top = start + 1
        at += 1
    return degrees[n]
