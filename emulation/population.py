"""Subscriptions that chance makes: how many, how alike, about how much, and how easily satisfied.

The workload of many papers on matching. A predicate is 1 on a piece of its attribute's domain of the wanted
length (`selectivity`, the share of uniform values that satisfy it fully) anywhere in it, and falls with a
slope drawn from the codes 20 to 80. The share `similarity` of all subscriptions equals another one in
everything but its number.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dens.item import lifetime_code
from knowledge_manager.event_class import Attribute, EventClass
from plugins.fuzzy.vectors import SubscriptionVector, Triple, encode_subscription
from watchdog.aggregators import MIN

LEAST_SLOPE, MOST_SLOPE, CRISP = 20, 80, 127
_TRIES = 20
"""How often another one is drawn for each that should differ; of few names there are not many."""


def draw_population(
    chance: np.random.Generator,
    event: EventClass,
    among: Sequence[Attribute],
    *,
    number: int,
    attributes: tuple[int, int],
    similarity: float,
    selectivity: float,
    threshold: int,
    lifetime_ms: int,
    stamp_s: int,
    feature_bytes: int = 1,
) -> list[SubscriptionVector]:
    """Return so many subscriptions with number 0, about some of these attributes each."""
    different = max(1, round(number * (1.0 - similarity)))
    core = round(255 * selectivity)
    found: dict[SubscriptionVector, None] = {}
    for _ in range(_TRIES * different):
        if len(found) == different:
            break
        size = int(chance.integers(attributes[0], attributes[1] + 1))
        picks = [int(pick) for pick in chance.choice(len(among), size, replace=False)]
        taken = sorted((among[pick] for pick in picks), key=lambda attribute: attribute.index)
        parts = SubscriptionVector(
            id=0,
            seq=0,
            valid=lifetime_code(lifetime_ms),
            stamp_s=stamp_s % 65536,
            threshold=threshold,
            aggregator=MIN,
            block=b"",
            constraints=tuple(_constraint(chance, attribute, core) for attribute in taken),
            event=event.index,
            attributes=tuple(attribute.index for attribute in taken),
            feature_bytes=feature_bytes,
        )
        found[parts] = None
    kinds = list(found)
    everybody = kinds + [kinds[int(chance.integers(len(kinds)))] for _ in range(number - len(kinds))]
    return [everybody[index] for index in chance.permutation(number)]


def _constraint(chance: np.random.Generator, attribute: Attribute, core: int) -> Triple:
    """Return what is asked of one attribute; of names, one of them."""
    if attribute.type == "nominal":
        name = int(chance.integers(len(attribute.values)))
        return name, name, CRISP
    low = int(chance.integers(0, 256 - core))
    return low, low + core, int(chance.integers(LEAST_SLOPE, MOST_SLOPE + 1))


def dealt(population: Sequence[SubscriptionVector], hands: int, first_id: int) -> list[tuple[int, bytes]]:
    """Return (whose, vector) for each, one subscriber after the other getting the next; numbers follow."""
    return [
        (index % hands, encode_subscription(replace(parts, id=first_id + index // hands)))
        for index, parts in enumerate(population)
    ]
