"""Boolean patterns of predicates: exact (pattern_exact) and broken down into pairs (pattern_breakdown).

*And* is a T-norm: the minimum unless the block begins with another. *Not* is the complement, and *or* the
T-conorm that belongs to the norm, the complement of the *and* of the complements:

    norm               and(a, b)               or(a, b)
    0 minimum          min(a, b)               max(a, b)
    1 product          a·b                     a + b - a·b
    2 Łukasiewicz      max(0, a + b - 1)       min(1, a + b)

Exact, a connective goes over its operands one after the other. Broken down, a connective over predicates is
the mean over all pairs of them of what it says of the pair, so it is another one from three predicates on;
one that joins anything but predicates is exact both ways. A negated predicate counts as a predicate. How a
pattern is written is laid down in docs/reference/vector-format.md.
"""

from watchdog.tokens import AND, NOT, OR


def both(a: int, b: int, norm: int) -> int:
    """Return the T-norm of two degrees."""
    if norm == 0:
        return min(a, b)
    if norm == 1:
        return (a * b + 127) // 255
    return max(a + b - 255, 0)


def joined(degrees: bytearray, start: int, end: int, turned: int, norm: int, by_pairs: bool) -> int:
    """Return the *and* of degrees[start:end]; with `turned` 255 instead of 0 their *or*."""
    result = 255
    total = 0
    i = start
    while i < end:
        a = degrees[i] ^ turned
        i += 1
        if by_pairs:
            j = i
            while j < end:
                total += both(a, degrees[j] ^ turned, norm)
                j += 1
        result = both(result, a, norm)
    i = end - start
    if by_pairs and i > 2:
        i = i * (i - 1) >> 1
        result = ((total << 1) + i) // (i << 1)
    return result ^ turned


def _two_level(pattern: int, degrees: bytearray, n: int, norm: int, by_pairs: bool) -> int:
    """Evaluate a one-byte pattern: bit 7 set joins the groups by or, bit i ends a group after predicate i."""
    turned = 255 if pattern >= 128 else 0
    result = 255
    start = 0
    i = 0
    while i < n:
        i += 1
        if i == n or pattern >> (i - 1) & 1:
            group = joined(degrees, start, i, turned ^ 255, norm, by_pairs)
            result = both(result, group ^ turned, norm)
            start = i
    return result ^ turned


def _over_predicates(tokens: bytes | bytearray, at: int, n: int) -> bool:
    """Return whether the n operands of the connective at `at` are all predicates, plain or negated."""
    while n:
        at -= 1
        if tokens[at] == NOT:
            at -= 1
        if tokens[at] >= AND:
            return False
        n -= 1
    return True


def evaluate_pattern(block: bytes | bytearray, at: int, degrees: bytearray, n: int, by_pairs: bool) -> int:
    """Return the degree of the pattern whose length byte stands at block[at], over the first n degrees.

    The bytes n to 2n of `degrees` are used as a stack. The block is well-formed (`watchdog.blocks`).
    """
    end = at + 1 + block[at]
    at += 1
    norm = 0
    if block[at] > NOT and at + 1 < end:
        norm = block[at] - NOT
        at += 1
    if end == at + 1:
        return _two_level(block[at], degrees, n, norm, by_pairs)
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
            degrees[start] = joined(degrees, start, top, 255 if token >= OR else 0, norm, pairs)
            top = start + 1
        at += 1
    return degrees[n]
