"""Random approximate subscriptions for workloads.

A predicate is a trapezoid anywhere in its attribute's domain. Its core has the requested length, in the 256
steps of other languages, and each side is at most as long. The threshold applies to possibility: necessity is
0, because both are equal for precise values.
"""

from typing import Final

import numpy as np

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.atopss.canonical import canonical
from plugins.atopss.published_values import shape_of_byte
from plugins.atopss.shapes.scale import threshold_of
from plugins.atopss.shapes.shapes import Shape, point
from plugins.atopss.subscriptions import Joined, Norm, Predicate
from plugins.atopss.vectors import encode_subscription
from plugins.authoring.generator import CombinationRefused, RandomSubscription, drawn_attributes

LAST_BYTE: Final = 255
NORMS: Final = {"min": Norm.MIN, "product": Norm.PRODUCT, "average": Norm.AVERAGE}
"""Supported norms. Weights are excluded: they would need a distribution."""


class AtopssGenerator:
    aggregators = tuple(NORMS)

    def draw(self, chance: np.random.Generator, wanted: RandomSubscription, table: MissionTable) -> bytes:
        """Return the body of a random conjunction over some attributes."""
        norm = _norm_of(wanted)
        predicates = tuple(
            Predicate(attribute.index, _shape(chance, attribute, wanted.selectivity))
            for attribute in drawn_attributes(chance, wanted)
        )
        function = Joined(is_or=False, parts=predicates)
        possibility = threshold_of(wanted.threshold)
        stamp_s = wanted.stamp_s % 65536
        return encode_subscription(
            canonical(wanted.event.index, function, norm, possibility=possibility, stamp_s=stamp_s)
        )

    def for_value(self, event: EventClass, attribute: Attribute, position: int, table: MissionTable) -> bytes:
        """Return the body of the subscription to every event with this value."""
        return encode_subscription(canonical(event.index, Predicate(attribute.index, point(position))))


def _norm_of(wanted: RandomSubscription) -> Norm:
    if wanted.form is not None:
        raise CombinationRefused("form", "approximate subscriptions have no form; remove it")
    norm = NORMS.get(wanted.aggregator or "min")
    if norm is None:
        message = f'degrees are not joined by "{wanted.aggregator}"'
        raise CombinationRefused("aggregator", message, tuple(NORMS))
    return norm


def _shape(chance: np.random.Generator, attribute: Attribute, selectivity: float) -> Shape:
    """Return a random shape for one attribute, or for a nominal attribute one value."""
    if attribute.type == "nominal":
        return point(int(chance.integers(len(attribute.values))))
    core = round(LAST_BYTE * selectivity)
    low = int(chance.integers(0, LAST_BYTE - core + 1))
    left, right = (int(side) for side in chance.integers(0, core + 1, 2))
    first, last = shape_of_byte(low, attribute).m1, shape_of_byte(low + core, attribute).m4
    foot = shape_of_byte(max(low - left, 0), attribute).m1
    end = shape_of_byte(min(low + core + right, LAST_BYTE), attribute).m4
    return Shape(foot, first, last, end)
