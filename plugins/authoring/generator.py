"""Subscriptions that nobody wrote: workloads of experiments, made by chance or from lists of interests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dens.config.problems import listed
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass


@dataclass(frozen=True, slots=True)
class RandomSubscription:
    """What chance is to make: a subscription about some of these attributes.

    `attributes` is the least and the most of them, `selectivity` the share of uniform values that satisfies
    a predicate fully, `threshold` the least degree, 0 to 1. `aggregator` is how predicates are combined, in
    the language's own words, `form` what that needs besides; None is what is usual.
    """

    event: EventClass
    among: Sequence[Attribute]
    attributes: tuple[int, int]
    selectivity: float
    threshold: float
    stamp_s: int
    aggregator: str | None = None
    form: str | None = None


def aggregators_of(generator: object) -> tuple[str, ...]:
    """Return the ways in which a generator can combine predicates; none where there is one alone."""
    return tuple(getattr(generator, "aggregators", ()))


def drawn_attributes(chance: np.random.Generator, wanted: RandomSubscription) -> list[Attribute]:
    """Return the attributes that a subscription is about, in the order of the mission table."""
    size = int(chance.integers(wanted.attributes[0], wanted.attributes[1] + 1))
    picks = [int(pick) for pick in chance.choice(len(wanted.among), size, replace=False)]
    return sorted((wanted.among[pick] for pick in picks), key=lambda attribute: attribute.index)


class CombinationRefused(ValueError):
    """Predicates cannot be combined as was wanted. `key` is the field of `RandomSubscription` to change."""

    def __init__(self, key: str, message: str, known: Sequence[str] = ()) -> None:
        hint = f" ({listed(known, len(known))})" if known else ""
        super().__init__(f"{message}{hint}")
        self.key = key
        self.known = tuple(known)


class SubscriptionGenerator(Protocol):
    """Makes bodies of subscriptions. The same chance makes the same bodies.

    One that can combine predicates in several ways names them in an attribute `aggregators`.
    """

    def draw(self, chance: np.random.Generator, wanted: RandomSubscription, table: MissionTable) -> bytes:
        """Return the body of one subscription of this kind; `CombinationRefused` where predicates cannot be
        combined so.
        """
        ...

    def for_value(self, event: EventClass, attribute: Attribute, position: int, table: MissionTable) -> bytes:
        """Return the body of the subscription to every event whose nominal attribute has the value at this
        position of its list.
        """
        ...
