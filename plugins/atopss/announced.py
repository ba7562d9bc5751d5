"""Meaning of an advertisement: it announces publications of its event with no other attributes than its own,
each value within the support of its shape, as far as the domain reaches.
"""

from collections.abc import Mapping

from plugins.atopss.codec import AtopssCodec
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Form, Norm, Subscription
from watchdog.header import BODY_AT
from watchdog.vector import VectorError


def advertisement_in(body: bytes, codec: AtopssCodec) -> Subscription:
    """Return the parts of an advertisement, or raise `VectorError`."""
    advertisement = codec.subscription(body)
    is_plain = advertisement.form == Form.AND and advertisement.norm == Norm.MIN
    is_plain = is_plain and len(advertisement.attributes) == len(advertisement.predicates)
    thresholds = [advertisement.possibility, advertisement.necessity]
    for leaf in advertisement.predicates:
        is_plain = is_plain and not leaf.complement
        thresholds += [leaf.possibility, leaf.necessity]
    if not is_plain or any(thresholds):
        raise VectorError(
            BODY_AT,
            "an advertisement joins by and, has each attribute once, without complement and thresholds",
        )
    return advertisement


def shapes_of(advertisement: Subscription) -> dict[int, Shape]:
    """Return the shape of each attribute."""
    return {leaf.attribute: leaf.shape for leaf in advertisement.predicates}


def lie_within(narrow: Mapping[int, Shape], wide: Mapping[int, Shape], lengths: Mapping[int, int]) -> bool:
    """Return whether the wide shapes have all attributes of the narrow ones and contain their supports,
    within domains of these lengths.
    """
    for attribute, shape in narrow.items():
        low, high = shape.m1, shape.m4
        if attribute in lengths:
            low, high = max(low, 0), min(high, lengths[attribute])
        if attribute not in wide or wide[attribute].m1 > low or high > wide[attribute].m4:
            return False
    return True
