"""Interests of people as subscriptions: who likes a topic asks for every event that has it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dens.item import lifetime_code
from knowledge_manager.event_class import Attribute, EventClass
from plugins.fuzzy.vectors import SubscriptionVector, encode_subscription
from watchdog.aggregators import MIN

_CRISP = 127


@dataclass(frozen=True, slots=True)
class PlannedInterests:
    """What the participants like, by their position in the group, or how many things a seed draws for
    each."""

    group: str
    event: EventClass
    attribute: Attribute
    liked: tuple[tuple[int, ...], ...] | None
    number: int
    first_id: int
    lifetime_ms: int
    feature_bytes: int

    def vectors(self, position: int, chance: np.random.Generator) -> Iterator[bytes]:
        """Yield the subscriptions of one participant."""
        if self.liked is None:
            amount = min(self.number, len(self.attribute.values))
            drawn = chance.choice(len(self.attribute.values), amount, replace=False)
            liked = tuple(sorted(int(value) for value in drawn))
        else:
            liked = self.liked[position] if position < len(self.liked) else ()
        for index, value in enumerate(liked):
            yield encode_subscription(
                SubscriptionVector(
                    id=self.first_id + index,
                    seq=0,
                    valid=lifetime_code(self.lifetime_ms),
                    stamp_s=0,
                    threshold=0,
                    aggregator=MIN,
                    block=b"",
                    constraints=((value, value, _CRISP),),
                    event=self.event.index,
                    attributes=(self.attribute.index,),
                    feature_bytes=self.feature_bytes,
                )
            )
