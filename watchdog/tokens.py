"""Patterns as postfix token strings: what a well-formed one is (docs/reference/vector-format.md)."""

AND = 64
OR = 128
NOT = 192
"""Postfix tokens: 0..63 is a predicate, 64 + n an and of n, 128 + n an or of n, 192 a not."""
MOST_NORMS = 2
"""T-norms beside the minimum; before a pattern of whatever length NOT + norm chooses one."""


def tokens_fault(b: bytes | bytearray, at: int, end: int, k: int) -> tuple[int, str] | None:
    """Return where and why b[at:end] is not a token string over k predicates, or None.

    Each predicate once, operands in order, connectives alternating, not a one-byte
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
