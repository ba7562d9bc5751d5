"""Interests of people as subscriptions: who likes a topic asks for every event that has it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dens.item import lifetime_code_ms
from knowledge_manager.event_class import Attribute, EventClass
from knowledge_manager.mission_table import MissionTable
from plugins.authoring.generator import SubscriptionGenerator
from watchdog.header import framed


@dataclass(frozen=True, slots=True)
class PlannedInterests:
    """What the participants like, by their position in the group, or how many things a seed draws for
    each."""

    group: str
    language: int
    generator: SubscriptionGenerator
    table: MissionTable
    event: EventClass
    attribute: Attribute
    liked: tuple[tuple[int, ...], ...] | None
    number: int
    first_id: int
    lifetime_ms: int

    def vectors(self, position: int, chance: np.random.Generator) -> Iterator[bytes]:
        """Yield the subscriptions of one participant."""
        if self.liked is None:
            amount = min(self.number, len(self.attribute.values))
            drawn = chance.choice(len(self.attribute.values), amount, replace=False)
            liked = tuple(sorted(int(value) for value in drawn))
        else:
            liked = self.liked[position] if position < len(self.liked) else ()
        lifetime_q = lifetime_code_ms(self.lifetime_ms)
        for index, value in enumerate(liked):
            body = self.generator.for_value(self.event, self.attribute, value, self.table)
            yield framed(self.first_id + index, 0, lifetime_q, body)
