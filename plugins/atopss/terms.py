"""The terms of a normal form: sets of predicates, each of which may satisfy a function.

If the whole is satisfied, every predicate of at least one term is.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from plugins.atopss.subscriptions import Function, Predicate, Subscription, tree_of

Member = TypeVar("Member", int, Predicate)
Sets = frozenset[frozenset[Member]]


def attribute_sets(subscription: Subscription, most: int) -> list[frozenset[int]]:
    """Return the minimal sets of attributes whose values can satisfy a subscription; if there are more than
    `most`, each attribute alone, which may be too weak but never too strong.
    """
    found = _least_sets(tree_of(subscription), most, lambda one: one.attribute)
    if found is None:
        found = frozenset(frozenset([attribute]) for attribute in subscription.attributes)
    return sorted(found, key=lambda one: (len(one), sorted(one)))


def conjunctions(subscription: Subscription, most: int) -> Sets[Predicate]:
    """Return the terms of the disjunctive normal form; if there are more than `most`, each
    predicate alone.
    """
    found = _least_sets(tree_of(subscription), most, lambda one: one)
    return frozenset(frozenset([one]) for one in subscription.predicates) if found is None else found


def _least_sets(function: Function, most: int, member: Callable[[Predicate], Member]) -> Sets[Member] | None:
    if isinstance(function, Predicate):
        return frozenset([frozenset([member(function)])])
    parts: list[Sets[Member]] = []
    for operand in function.parts:
        found = _least_sets(operand, most, member)
        if found is None:
            return None
        parts.append(found)
    if function.is_or:
        joined = _least(one for part in parts for one in part)
        return joined if len(joined) <= most else None
    product = parts[0]
    for part in parts[1:]:
        product = _least(one | other for one in product for other in part)
        if len(product) > most:
            return None
    return product


def _least(sets: Iterable[frozenset[Member]]) -> Sets[Member]:
    """Return the minimal sets."""
    kept: list[frozenset[Member]] = []
    for one in sorted(set(sets), key=len):
        if not any(other <= one for other in kept):
            kept.append(one)
    return frozenset(kept)
