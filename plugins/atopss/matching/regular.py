"""`regular`: the papers' two-stage algorithm (ICDE 2004, figures 5 and 7).

First every distinct predicate on a published attribute is evaluated once, which fills the predicate vector.
Then the satisfied ones count for the terms that have them; a term with a full count makes its subscription a
candidate, which is decided from the predicate vector. A function that is not a plain *and* has several terms,
those of its normal form.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Final

from knowledge_manager.mission_table import MissionTable
from plugins.atopss.matching.association import ASSOCIATIONS
from plugins.atopss.matching.encodings import ENCODINGS, NOT_REACHED, USUAL, Encoding, Pair
from plugins.atopss.matching.naive import OneByOne
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.degrees import Degrees
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Predicate, Subscription
from plugins.atopss.terms import conjunctions
from plugins.language import SubscriptionKey

MOST_TERMS: Final = 16
"""A function with more terms is a candidate as soon as one of its predicates is satisfied."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A subscription, the numbers of its predicates, and its terms."""

    wanted: Subscription
    predicates: tuple[int, ...]
    terms: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Term:
    """The subscription and the predicates of a term."""

    key: SubscriptionKey
    predicates: tuple[int, ...]


class Predicates:
    """The distinct predicates of one attribute, in order of arrival."""

    def __init__(self) -> None:
        self._numbers: dict[int, Predicate] = {}

    def enter(self, number: int, predicate: Predicate) -> None:
        self._numbers[number] = predicate

    def leave(self, number: int) -> None:
        del self._numbers[number]

    def judged(self, value: Shape, encoding: Encoding) -> Iterable[tuple[int, Pair]]:
        """Yield the number and the degrees of every predicate that this value may satisfy."""
        for number, predicate in self._numbers.items():
            yield number, encoding.degrees(predicate, value)


class RegularMatcher(OneByOne):
    """Holds each distinct predicate once, with its subscriptions."""

    def __init__(self, table: MissionTable | None, encoding: str = USUAL, association: str = "lists") -> None:
        super().__init__(table)
        self._encoding = ENCODINGS[encoding]
        self._association = ASSOCIATIONS[association]()
        self._attributes: dict[tuple[int, int], Predicates] = {}
        self._numbers: dict[tuple[int, Predicate], list[int]] = {}
        self._held: dict[SubscriptionKey, _Held] = {}
        self._terms: dict[int, _Term] = {}
        self._free: list[int] = []
        self._next = count()

    def predicates(self) -> Predicates:
        return Predicates()

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        wanted = self._codec.subscription(body)
        self.remove(key)
        numbers = {one: self._entered(wanted.event, one) for one in wanted.predicates}
        terms = [
            self._joined(key, [numbers[one] for one in term]) for term in conjunctions(wanted, MOST_TERMS)
        ]
        self._held[key] = _Held(wanted, tuple(numbers.values()), tuple(terms))

    def remove(self, key: SubscriptionKey) -> None:
        held = self._held.pop(key, None)
        if held is None:
            return
        for term in held.terms:
            for number in self._terms.pop(term).predicates:
                self._association.leave(number, term)
            self._free.append(term)
        for predicate in held.wanted.predicates:
            self._left(held.wanted.event, predicate)

    def reached(self, notification: Notification) -> dict[int, Pair]:
        """Return the predicate vector: the degrees of every satisfied predicate, by number."""
        vector: dict[int, Pair] = {}
        for attribute, value in notification.values.items():
            predicates = self._attributes.get((notification.event, attribute))
            if predicates is not None:
                vector |= {
                    number: pair for number, pair in predicates.judged(value, self._encoding) if pair[0] > 0
                }
        return vector

    def satisfied(self, notification: Notification) -> list[tuple[SubscriptionKey, Degrees]]:
        """Return the satisfied subscriptions: first the predicates, then the terms with full counts."""
        vector = self.reached(notification)
        counts: dict[int, int] = {}
        candidates: set[SubscriptionKey] = set()
        for number in vector:
            for term in self._association.terms(number):
                counts[term] = counts.get(term, 0) + 1
                if counts[term] == len(self._terms[term].predicates):
                    candidates.add(self._terms[term].key)
        return list(self._decided(candidates, vector))

    def _decided(
        self, candidates: set[SubscriptionKey], vector: dict[int, Pair]
    ) -> Iterable[tuple[SubscriptionKey, Degrees]]:
        for key in candidates:
            held = self._held[key]
            reached = [vector.get(number, NOT_REACHED) for number in held.predicates]
            degrees = self._encoding.verdict(held.wanted, reached)
            if degrees is not None:
                yield key, degrees

    def _entered(self, event: int, predicate: Predicate) -> int:
        """Return the number of a predicate, a new one if needed."""
        known = self._numbers.setdefault((event, predicate), [next(self._next), 0])
        known[1] += 1
        if known[1] == 1:
            place = self._attributes.setdefault((event, predicate.attribute), self.predicates())
            place.enter(known[0], predicate)
        return known[0]

    def _left(self, event: int, predicate: Predicate) -> None:
        known = self._numbers[event, predicate]
        known[1] -= 1
        if not known[1]:
            self._attributes[event, predicate.attribute].leave(known[0])
            del self._numbers[event, predicate]

    def _joined(self, key: SubscriptionKey, predicates: list[int]) -> int:
        """Return the number of a new term."""
        term = self._free.pop() if self._free else len(self._terms)
        self._terms[term] = _Term(key, tuple(predicates))
        for number in predicates:
            self._association.enter(number, term)
        return term
