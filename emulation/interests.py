"""Interests of people as subscriptions: a participant subscribes to the events of each topic they like."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.authoring.generator import SubscriptionGenerator


@dataclass(frozen=True, slots=True)
class PlannedInterests:
    """The values that participants like, by position in the group, or the number that a seed draws for
    each.
    """

    group: str
    language: int
    generator: SubscriptionGenerator
    table: MissionTable
    event: EventClass
    attribute: Attribute
    liked: tuple[tuple[int, ...], ...] | None
    number: int
    lifetime_q: int

    def bodies(self, position: int, rng: np.random.Generator) -> Iterator[bytes]:
        """Yield the subscriptions of one participant."""
        if self.liked is None:
            amount = min(self.number, len(self.attribute.values))
            drawn = rng.choice(len(self.attribute.values), amount, replace=False)
            liked = tuple(sorted(int(value) for value in drawn))
        else:
            liked = self.liked[position] if position < len(self.liked) else ()
        for value in liked:
            yield self.generator.for_value(self.event, self.attribute, value, self.table)
