"""Fuzzy subscriptions that nobody wrote, for workloads.

The workload of many papers on matching. A predicate is 1 on a piece of its attribute's domain of the wanted
length (`selectivity`, the share of uniform values that satisfy it fully) anywhere in it, and falls with a
slope drawn from the codes 20 to 80.
"""

from collections.abc import Sequence
from math import ceil
from typing import Final

import numpy as np

from knowledge_manager.event_class import Attribute, EventClass
from knowledge_manager.mission_table import MissionTable
from plugins.authoring.generator import RandomSubscription
from plugins.fuzzy.vectors import SubscriptionVector, Triple, encode_subscription
from watchdog.aggregators import MIN
from watchdog.header import body_of

LEAST_SLOPE: Final = 20
MOST_SLOPE: Final = 80
CRISP: Final = 127


class FuzzyGenerator:
    """Makes bodies of fuzzy subscriptions that combine their predicates by minimum."""

    def draw(self, chance: np.random.Generator, wanted: RandomSubscription, table: MissionTable) -> bytes:
        """Return the body of a subscription about some of the attributes, each asked for at random."""
        size = int(chance.integers(wanted.attributes[0], wanted.attributes[1] + 1))
        picks = [int(pick) for pick in chance.choice(len(wanted.among), size, replace=False)]
        taken = sorted((wanted.among[pick] for pick in picks), key=lambda attribute: attribute.index)
        core = round(255 * wanted.selectivity)
        constraints = [_constraint(chance, attribute, core) for attribute in taken]
        threshold = ceil(15 * wanted.threshold - 1e-9)
        return _body(wanted.event, taken, constraints, threshold, wanted.stamp_s % 65536, table)

    def for_value(self, event: EventClass, attribute: Attribute, position: int, table: MissionTable) -> bytes:
        """Return the body of the subscription to every event with this value."""
        return _body(event, [attribute], [(position, position, CRISP)], 0, 0, table)


def _constraint(chance: np.random.Generator, attribute: Attribute, core: int) -> Triple:
    """Return what is asked of one attribute; of names, one of them."""
    if attribute.type == "nominal":
        name = int(chance.integers(len(attribute.values)))
        return name, name, CRISP
    low = int(chance.integers(0, 256 - core))
    return low, low + core, int(chance.integers(LEAST_SLOPE, MOST_SLOPE + 1))


def _body(
    event: EventClass,
    attributes: Sequence[Attribute],
    constraints: Sequence[Triple],
    threshold: int,
    stamp_s: int,
    table: MissionTable,
) -> bytes:
    parts = SubscriptionVector(
        id=0,
        seq=0,
        valid=0,
        stamp_s=stamp_s,
        threshold=threshold,
        aggregator=MIN,
        block=b"",
        constraints=tuple(constraints),
        event=event.index,
        attributes=tuple(attribute.index for attribute in attributes),
        feature_bytes=table.feature_bytes,
    )
    return body_of(encode_subscription(parts))
