"""Number of pairs of degrees that break-down relates for a subscription, which dominates its cost."""

from plugins.board_vectors import SubscriptionBody
from plugins.fuzzy.patterns import Joined, Leaf, Not, Pattern, is_predicate, pattern_from_bytes
from watchdog.aggregators import PATTERN_BREAKDOWN, WITH_RULES
from watchdog.blocks import GENERATOR, NAMED_FUNCTIONS


def relational_pairs(parts: SubscriptionBody) -> int:
    """Return the pairs that the aggregator of a subscription evaluates.

    A table of rules evaluates all of them. A generator evaluates each degree once instead
    (docs/decisions/0017-break-down.md), so it counts the number of degrees. Other aggregators have none.
    """
    n = len(parts.attributes)
    if WITH_RULES >> parts.aggregator & 1:
        function = parts.block[0]
        return n if function < NAMED_FUNCTIONS or function == GENERATOR else n * (n - 1) // 2
    if parts.aggregator == PATTERN_BREAKDOWN:
        return pairs_in(pattern_from_bytes(parts.block, n))
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
