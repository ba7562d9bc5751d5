"""The Cartesian-product forms as a filter calls them: patterns (BFCPAB) and functions broken down by local
models (BFCPA1, BFCPA2), for events whose age is not known yet.

With `aged` the degree of the event's age is the last of the n, and the largest degree that any age gives is
returned: a pattern rises or falls with every membership, so its best is at one of the ends; a function with a
table may have it anywhere. The two loops are apart because a small board has room for one of them, and its
stack for no call between (dens/boards/filter_parts.py).
"""

from watchdog.aggregators import PATTERN_BREAKDOWN, TAKAGI_SUGENO_0, WITH_PATTERN, WITH_RULES
from watchdog.breakdown import evaluate_function
from watchdog.pattern import evaluate_pattern
from watchdog.score import combine


def combine_patterns(block: bytes | bytearray, body: int, degrees: bytearray, n: int, aged: int) -> int:
    """Return the first n degrees combined by the pattern behind block[body]."""
    by_pairs = block[body] & 15 == PATTERN_BREAKDOWN
    best = trial = 0
    while trial < 256:
        if aged:
            degrees[n - 1] = trial
        found = evaluate_pattern(block, body + 1, degrees, n, by_pairs)
        best = max(best, found)
        trial += 255 if aged else 256
    return best


def combine_functions(block: bytes | bytearray, body: int, degrees: bytearray, n: int, aged: int) -> int:
    """Return the first n degrees combined by the function behind block[body]."""
    order = (block[body] & 15) - TAKAGI_SUGENO_0
    best = trial = 0
    while trial < 256:
        if aged:
            degrees[n - 1] = trial
        found = evaluate_function(block, body + 1, degrees, n, order)
        best = max(best, found)
        trial += 1 if aged else 256
    return best


def combine_every(block: bytes | bytearray, body: int, degrees: bytearray, n: int, aged: int) -> int:
    """Return the first n degrees combined as block[body] asks. A mean is largest at the full degree of an
    age, which a filter has put there.
    """
    kind = block[body] & 15
    if aged and WITH_RULES >> kind & 1:
        return combine_functions(block, body, degrees, n, aged)
    if aged and WITH_PATTERN >> kind & 1:
        return combine_patterns(block, body, degrees, n, aged)
    return combine(block, body, degrees, n)
