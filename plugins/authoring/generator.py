"""Subscriptions that nobody wrote: workloads of experiments, made by chance or from lists of interests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from knowledge_manager.event_class import Attribute, EventClass
from knowledge_manager.mission_table import MissionTable


@dataclass(frozen=True, slots=True)
class RandomSubscription:
    """What chance is to make: a subscription about some of these attributes.

    `attributes` is the least and the most of them, `selectivity` the share of uniform values that satisfies
    a predicate fully, `threshold` the least degree, 0 to 1.
    """

    event: EventClass
    among: Sequence[Attribute]
    attributes: tuple[int, int]
    selectivity: float
    threshold: float
    stamp_s: int


class SubscriptionGenerator(Protocol):
    """Makes bodies of subscriptions. The same chance makes the same bodies."""

    def draw(self, chance: np.random.Generator, wanted: RandomSubscription, table: MissionTable) -> bytes:
        """Return the body of one subscription of this kind."""
        ...

    def for_value(self, event: EventClass, attribute: Attribute, position: int, table: MissionTable) -> bytes:
        """Return the body of the subscription to every event whose nominal attribute has the value at this
        position of its list.
        """
        ...
