"""Random fuzzy subscriptions for workloads, as in many papers on matching.

A predicate is 1 on a random interval of its attribute's domain (`selectivity`, the share of uniform values
that satisfy it fully), and falls with a slope drawn from the codes 20 to 80. The combination of predicates is
the same for a whole workload.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.authoring.generator import CombinationRefused, RandomSubscription, drawn_attributes
from plugins.board_vectors import SubscriptionBody, Triple, encode_body
from plugins.fuzzy.named_functions import NUMBERS
from plugins.fuzzy.patterns import pattern_bytes, short_form
from watchdog.aggregators import AGGREGATOR_NAMES, MIN, WEIGHTED_MEAN, WITH_PATTERN, WITH_RULES

LEAST_SLOPE: Final = 20
MOST_SLOPE: Final = 80
CRISP: Final = 127

AGGREGATORS: Final = {name: number for number, name in AGGREGATOR_NAMES.items() if number != WEIGHTED_MEAN}
"""Supported aggregators. Weights are excluded: they would need a distribution."""


@dataclass(frozen=True, slots=True)
class Combination:
    """An aggregator and its block."""

    aggregator: int = MIN
    block: bytes = b""


class FuzzyGenerator:
    aggregators = tuple(AGGREGATORS)

    def draw(self, chance: np.random.Generator, wanted: RandomSubscription, table: MissionTable) -> bytes:
        """Return the body of a random subscription about some of the attributes."""
        combination = combination_of(wanted)
        taken = drawn_attributes(chance, wanted)
        core = round(255 * wanted.selectivity)
        constraints = [_constraint(chance, attribute, core) for attribute in taken]
        threshold = ceil(15 * wanted.threshold - 1e-9)
        return _body(wanted.event, taken, constraints, threshold, wanted.stamp_s % 65536, table, combination)

    def for_value(self, event: EventClass, attribute: Attribute, position: int, table: MissionTable) -> bytes:
        """Return the body of the subscription to every event with this value."""
        return _body(event, [attribute], [(position, position, CRISP)], 0, 0, table, Combination())


def combination_of(wanted: RandomSubscription) -> Combination:
    """Return how the predicates of a workload are combined, or raise `CombinationRefused`."""
    name, form = wanted.aggregator or AGGREGATOR_NAMES[MIN], wanted.form
    aggregator = AGGREGATORS.get(name)
    if aggregator is None:
        raise CombinationRefused("aggregator", f'unknown aggregator "{name}"', tuple(AGGREGATORS))
    if WITH_PATTERN >> aggregator & 1:
        return Combination(aggregator, _pattern_block(name, form, wanted.attributes))
    if WITH_RULES >> aggregator & 1:
        if form not in NUMBERS:
            message = f"{name} approximates a function" + (f', not "{form}"' if form else "; choose one")
            raise CombinationRefused("form", message, tuple(NUMBERS))
        if wanted.attributes[0] < 2:
            raise CombinationRefused("attributes", f"{name} needs at least two attributes")
        return Combination(aggregator, bytes([NUMBERS[form]]))
    if form is not None:
        raise CombinationRefused("form", f"{name} has no form; remove it")
    return Combination(aggregator)


def _pattern_block(name: str, form: str | None, attributes: tuple[int, int]) -> bytes:
    least, most = attributes
    if form is None:
        raise CombinationRefused("form", f"{name} needs a pattern in short form, such as d2c1 or c12d")
    if least != most:
        message = f"a pattern needs a fixed number of attributes: attributes = [{most}, {most}]"
        raise CombinationRefused("attributes", message)
    try:
        return pattern_bytes(short_form(form, list(range(most))))
    except ValueError as error:
        raise CombinationRefused("form", str(error)) from None


def _constraint(chance: np.random.Generator, attribute: Attribute, core: int) -> Triple:
    """Return a random constraint on one attribute, or on a nominal attribute one value."""
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
    combination: Combination,
) -> bytes:
    parts = SubscriptionBody(
        stamp_s=stamp_s,
        threshold=threshold,
        aggregator=combination.aggregator,
        block=combination.block,
        constraints=tuple(constraints),
        event=event.index,
        attributes=tuple(attribute.index for attribute in attributes),
        feature_bytes=table.feature_bytes,
    )
    return encode_body(parts)
