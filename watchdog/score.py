"""The degree of one subscription for one row of normalised values: what every filter and matcher means by
it.
"""

from watchdog.aggregate import aggregate, weighted_mean
from watchdog.aggregators import (
    PATTERN_BREAKDOWN,
    TAKAGI_SUGENO_0,
    WEIGHTED_MEAN,
    WITH_RULES,
    has_block,
)
from watchdog.breakdown import evaluate_function
from watchdog.membership import degree
from watchdog.pattern import evaluate_pattern
from watchdog.vector import indexes


def memberships(
    b: bytes | bytearray,
    at: int,
    row: bytes | bytearray,
    attributes: bytes | bytearray,
    n: int,
    degrees: bytearray,
) -> None:
    """Write the degrees of the n constraints from b[at] on into `degrees`; `attributes` names their places
    in row.
    """
    i = 0
    while i < n:
        degrees[i] = degree(row[attributes[i]], b[at], b[at + 1], b[at + 2])
        at += 3
        i += 1


def combine(b: bytes | bytearray, at: int, degrees: bytearray, n: int) -> int:
    """Return the first n degrees combined as b[at], the byte with threshold and aggregator, asks.

    What an aggregator needs more follows that byte. `degrees` has room for 2n bytes; the rear half is
    scratch.
    """
    aggregator = b[at] & 15
    if not has_block(aggregator):
        return aggregate(aggregator, degrees, n)
    if aggregator == WEIGHTED_MEAN:
        return weighted_mean(b, at + 2, degrees, n)
    if WITH_RULES >> aggregator & 1:
        return evaluate_function(b, at + 1, degrees, n, aggregator - TAKAGI_SUGENO_0)
    return evaluate_pattern(b, at + 1, degrees, n, aggregator == PATTERN_BREAKDOWN)


def score(
    b: bytes | bytearray,
    at: int,
    row: bytes | bytearray,
    attributes: bytes | bytearray,
    n: int,
    degrees: bytearray,
) -> int:
    """Return the degree of the subscription whose threshold and aggregator byte is b[at], for this row.

    Constraints on `n` attributes follow, in the order of `attributes`. Nothing is allocated; `degrees` (2n
    bytes) afterwards holds the memberships.
    """
    constraints = at + 1
    if has_block(b[at] & 15):
        constraints += 1 + b[at + 1]
    memberships(b, constraints, row, attributes, n, degrees)
    return combine(b, at, degrees, n)


def satisfies(threshold_byte: int, degree_u8: int) -> bool:
    """Return whether a degree is enough for a subscription with this byte 5: above 0 and at least 17·t."""
    return degree_u8 > 0 and degree_u8 >= 17 * (threshold_byte >> 4)


def vector_degree(vector: bytes | bytearray, feature_bytes: int, row: bytes | bytearray) -> int:
    """Return the degree of a well-formed subscription vector for a row with one byte for every attribute
    index.

    The row holds the event's age, coded like a lifetime, at the highest index.
    """
    attributes = bytearray(8 * feature_bytes)
    n = indexes(vector, len(vector) - feature_bytes, feature_bytes, attributes)
    return score(vector, 5, row, attributes, n, bytearray(2 * n))
