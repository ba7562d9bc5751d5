"""Number of pairs of degrees that break-down relates for a subscription, which dominates its cost."""

from plugins.fuzzy.patterns import Joined, Leaf, Not, Pattern, is_predicate, pattern_from_bytes
from watchdog.aggregators import PATTERN_BREAKDOWN, WITH_RULES
from watchdog.blocks import GENERATOR, NAMED_FUNCTIONS
from watchdog.vector import HEADER_BYTES, constraints_offset


def relational_pairs(vector: bytes, n: int) -> int:
    """Return the pairs that the aggregator of a well-formed vector evaluates for n degrees.

    A table of rules evaluates all of them. A generator evaluates each degree once instead
    (docs/decisions/0017-break-down.md), so it counts the number of degrees. Other aggregators have none.
    """
    aggregator = vector[HEADER_BYTES - 1] & 15
    if WITH_RULES >> aggregator & 1:
        function = vector[HEADER_BYTES + 1]
        return n if function < NAMED_FUNCTIONS or function == GENERATOR else n * (n - 1) // 2
    if aggregator == PATTERN_BREAKDOWN:
        return pairs_in(pattern_from_bytes(vector[HEADER_BYTES + 1 : constraints_offset(vector)], n))
    return 0


def pairs_in(pattern: Pattern) -> int:
    """Return the pairs of predicates of connectives over predicates only."""
    match pattern:
        case Leaf():
            return 0
        case Not(part):
            return pairs_in(part)
        case Joined(_, parts):
            if all(map(is_predicate, parts)):
                return len(parts) * (len(parts) - 1) // 2
            return sum(map(pairs_in, parts))
