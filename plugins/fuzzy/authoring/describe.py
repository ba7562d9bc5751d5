"""Description of the bytes of a fuzzy vector."""

from knowledge_manager.mission_table import MissionTable
from plugins.authoring.output.board_notifications import describe_board_notification
from plugins.authoring.output.byte_words import Names
from plugins.authoring.output.description import Description, subscription_head
from plugins.fuzzy.authoring.words import (
    combination_words,
    constraint_words,
    subscription_words,
    threshold_words,
)
from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.vectors import SubscriptionVector
from watchdog.vector import NOTIFICATION
from watchdog.vector import kind as kind_of


def describe_vector(
    vector: bytes, table: MissionTable | None = None, kind: str | None = None, feature_bytes: int = 1
) -> Description:
    """Describe a vector. Bytes that are invalid, or not of the requested kind ("sv", "nv"), raise
    `VectorError`.
    """
    codec = FuzzyCodec(table, feature_bytes)
    names = Names(table, codec.feature_bytes)
    if kind == "nv" or (kind is None and kind_of(vector, codec.feature_bytes) == NOTIFICATION):
        return describe_board_notification(vector, table, codec.feature_bytes)
    return _describe_subscription(vector, codec.subscription(vector), names)


def _describe_subscription(vector: bytes, parts: SubscriptionVector, names: Names) -> Description:
    called = [names.attribute(parts.event, index) for index in parts.attributes]
    fields, facts = subscription_head(vector, parts.stamp_s)
    combining = combination_words(parts, called)
    fields.take(1, "threshold, aggregator", f"degree {threshold_words(parts.threshold)}; {combining}")
    if parts.block:
        fields.take(1 + len(parts.block), "pattern block", f"{len(parts.block)} bytes: {combining}")
    constraints = []
    for index, triple, name in zip(parts.attributes, parts.constraints, called, strict=True):
        attribute = names.attribute_of(parts.event, index)
        words = constraint_words(triple, attribute, age=names.is_age(index))
        fields.take(3, "constraint", f"{name} {words}")
        v, V, g = triple
        constraints.append({"attribute": name, "index": index, "v": v, "V": V, "g": g, "words": words})
    fields.take(names.feature_bytes, "event feature", names.event(parts.event))
    fields.take(names.feature_bytes, "attribute feature", ", ".join(called))
    facts |= {
        "threshold": parts.threshold / 15,
        "threshold_u8": 17 * parts.threshold,
        "aggregator": parts.aggregator,
        "combination": combining,
        "block": parts.block.hex(),
        "event": names.event(parts.event),
        "event_index": parts.event,
        "constraints": constraints,
    }
    sentences = tuple(subscription_words(parts, names))
    return Description("subscription", vector, fields.found(), sentences, facts)
