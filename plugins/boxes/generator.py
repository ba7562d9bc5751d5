"""Random boxes for workloads: ranges of the requested length anywhere in the domains.

`and` is one box; `or` is one box per attribute.
"""

from typing import Final

import numpy as np

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.authoring.generator import CombinationRefused, RandomSubscription, drawn_attributes
from plugins.boxes.vectors import LAST_BYTE, Box, BoxesBody, Side, encode_body

AND, OR = "and", "or"
_LONGEST: Final = LAST_BYTE - 1
"""Maximum length of a range: one of all bytes restricts nothing."""


class BoxesGenerator:
    aggregators = (AND, OR)

    def draw(self, chance: np.random.Generator, wanted: RandomSubscription, table: MissionTable) -> bytes:
        """Return the body of a random subscription about some of the attributes."""
        is_or = _is_or(wanted)
        length = min(round(LAST_BYTE * wanted.selectivity), _LONGEST)
        sides = tuple(_side(chance, attribute, length) for attribute in drawn_attributes(chance, wanted))
        boxes: tuple[Box, ...] = tuple((side,) for side in sides) if is_or else (sides,)
        parts = BoxesBody(wanted.stamp_s % 65536, wanted.event.index, boxes)
        return encode_body(parts, table.feature_bytes)

    def for_value(self, event: EventClass, attribute: Attribute, position: int, table: MissionTable) -> bytes:
        """Return the body of the subscription to every event with this value."""
        box: Box = ((attribute.index, position, position),)
        return encode_body(BoxesBody(0, event.index, (box,)), table.feature_bytes)


def _is_or(wanted: RandomSubscription) -> bool:
    if wanted.form is not None:
        raise CombinationRefused("form", "boxes have no form; remove it")
    if wanted.aggregator not in (None, AND, OR):
        message = f'conditions are not joined by "{wanted.aggregator}"'
        raise CombinationRefused("aggregator", message, (AND, OR))
    return wanted.aggregator == OR


def _side(chance: np.random.Generator, attribute: Attribute, length: int) -> Side:
    """Return a random range of one attribute, or of a nominal attribute one value."""
    if attribute.type == "nominal":
        name = int(chance.integers(len(attribute.values)))
        return attribute.index, name, name
    low = int(chance.integers(0, LAST_BYTE - length + 1))
    return attribute.index, low, low + length
