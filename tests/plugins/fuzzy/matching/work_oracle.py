"""Counts the steps of each algorithm by going through figure 5 of paper 004 with vectors in the hand.

It knows neither the matchers nor their structures: it takes vectors of one-byte features apart by their
layout and asks of each subscription what the figure asks. The covering forest is an input: who stands under
whom, because the figure leaves open which of several covers becomes the parent.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from plugins.language import SubscriptionKey
from plugins.matching_work import MatchingWork
from watchdog.aggregators import has_block
from watchdog.membership import degree
from watchdog.score import vector_degree

AGE_BIT = 128
AGE_OF_NOW = 0


@dataclass(frozen=True)
class Wish:
    """A subscription, taken apart by hand."""

    vector: bytes

    @property
    def event(self) -> int:
        return self.vector[-2]

    @property
    def feature(self) -> int:
        return self.vector[-1] & ~AGE_BIT

    @property
    def predicates(self) -> list[tuple[int, int, int, int]]:
        """(attribute, v, V, g) of each constraint."""
        at = 6 + (1 + self.vector[6] if has_block(self.vector[5] & 15) else 0)
        places = [index for index in range(8) if self.vector[-1] >> index & 1]
        return [(place, *self.vector[at + 3 * i : at + 3 * i + 3]) for i, place in enumerate(places)]

    @property
    def pairs(self) -> int:
        """Pairs of a table of rules, degrees of a generator; patterns are counted elsewhere."""
        if self.vector[5] & 15 not in (7, 8):
            return 0
        n = len(self.predicates)
        return n if self.vector[7] in (0, 1, 4) else n * (n - 1) // 2


@dataclass(frozen=True)
class Asked:
    """A notification of now, taken apart by hand."""

    vector: bytes
    exact: bool

    @property
    def row(self) -> bytes:
        values = iter(self.vector[6:])
        told = [next(values) if self.vector[-1] >> index & 1 else 0 for index in range(7)]
        return bytes([*told, AGE_OF_NOW])

    def fits(self, wish: Wish) -> bool:
        told = self.vector[-1]
        fits = wish.feature ^ told == 0 if self.exact else wish.feature & ~told == 0
        return fits and wish.event == self.vector[-2]

    def satisfies(self, wish: Wish) -> bool:
        reached = vector_degree(wish.vector, 1, self.row)
        return self.fits(wish) and reached > 0 and reached >= 17 * (wish.vector[5] >> 4)


Wishes = Mapping[SubscriptionKey, Wish]


def _judged(asked: Asked, tested: list[Wish], memberships: int | None = None) -> MatchingWork:
    """What these feature tests lead to."""
    candidates = [wish for wish in tested if asked.fits(wish)]
    counted = sum(len(wish.predicates) for wish in candidates) if memberships is None else memberships
    pairs = sum(wish.pairs for wish in candidates)
    return MatchingWork(len(tested), counted, len(candidates), pairs)


def flat(asked: Asked, wishes: Wishes) -> MatchingWork:
    """Figure 5.a: the feature of each."""
    return _judged(asked, list(wishes.values()))


def in_order(asked: Asked, wishes: Wishes) -> MatchingWork:
    """Figure 5.b as corrected (docs/explanation/matching.md): those of the event from the first feature that
    can fit to the equal one.
    """
    told = asked.vector[-1]
    of_event = [wish for wish in wishes.values() if wish.event == asked.vector[-2]]
    first = told if asked.exact else 0
    return _judged(asked, [wish for wish in of_event if first <= wish.feature <= told])


def covered(
    asked: Asked, wishes: Wishes, parents: Mapping[SubscriptionKey, SubscriptionKey | None]
) -> MatchingWork:
    """Figure 5.c: roots, and whoever stands under one that is satisfied; not whoever equals it."""
    tested = []
    for key, wish in wishes.items():
        parent = parents[key]
        if parent is None or (
            asked.satisfies(wishes[parent]) and wishes[parent].vector[5:] != wish.vector[5:]
        ):
            tested.append(wish)
    return _judged(asked, tested)


def indexed(asked: Asked, wishes: Wishes) -> MatchingWork:
    """§4.3: each distinct predicate of the event once, then whoever has a satisfied one."""
    told = asked.vector[-1] | AGE_BIT
    of_event = [wish for wish in wishes.values() if wish.event == asked.vector[-2]]
    distinct = {one for wish in of_event for one in wish.predicates if told >> one[0] & 1}
    satisfied = {one for one in distinct if degree(asked.row[one[0]], *one[1:]) > 0}
    touched = [
        wish
        for wish in wishes.values()
        if _makes_something_of_nothing(wish)
        or (wish in of_event and any(one in satisfied for one in wish.predicates))
    ]
    return _judged(asked, touched, len(distinct))


def _makes_something_of_nothing(wish: Wish) -> bool:
    """Whether degrees of 0 are combined to more: every constraint becomes one that nothing satisfies."""
    at = len(wish.vector) - 2 - 3 * len(wish.predicates)
    hopeless = wish.vector[:at] + b"\xff\xff\x7f" * len(wish.predicates) + wish.vector[-2:]
    return vector_degree(hopeless, 1, bytes(8)) > 0
