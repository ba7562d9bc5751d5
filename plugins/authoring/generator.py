"""Generated subscriptions for the workloads of experiments: random ones, or from lists of interests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dens.config.problems import listed
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass


@dataclass(frozen=True, slots=True)
class RandomSubscription:
    """Parameters of a random subscription.

    `attributes` is the minimum and maximum number of attributes, `selectivity` the share of uniform values
    that satisfy a predicate fully, `threshold` the minimum degree, 0 to 1. `aggregator` and `form` select how
    predicates are combined, in the language's own terms; None is the default.
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
    """Return the supported aggregators; empty without a choice."""
    return tuple(getattr(generator, "aggregators", ()))


def drawn_attributes(chance: np.random.Generator, wanted: RandomSubscription) -> list[Attribute]:
    """Return random attributes, in the order of the mission table."""
    size = int(chance.integers(wanted.attributes[0], wanted.attributes[1] + 1))
    picks = [int(pick) for pick in chance.choice(len(wanted.among), size, replace=False)]
    return sorted((wanted.among[pick] for pick in picks), key=lambda attribute: attribute.index)


class CombinationRefused(ValueError):
    """Predicates cannot be combined as requested. `key` is the field of `RandomSubscription` to change."""

    def __init__(self, key: str, message: str, known: Sequence[str] = ()) -> None:
        hint = f" ({listed(known, len(known))})" if known else ""
        super().__init__(f"{message}{hint}")
        self.key = key
        self.known = tuple(known)


class SubscriptionGenerator(Protocol):
    """Generates bodies of subscriptions, deterministic for a random generator's state.

    If there are several aggregators, the attribute `aggregators` lists them.
    """

    def draw(self, chance: np.random.Generator, wanted: RandomSubscription, table: MissionTable) -> bytes:
        """Return the body of a random subscription. `CombinationRefused` if its predicates cannot be combined
        as requested.
        """
        ...

    def for_value(self, event: EventClass, attribute: Attribute, position: int, table: MissionTable) -> bytes:
        """Return the body of the subscription to all events whose nominal attribute has the value at this
        position.
        """
        ...
