"""Description of the bytes of a fuzzy vector."""

from knowledge_manager.mission_table import MissionTable
from plugins.authoring.output.board_notifications import describe_board_notification
from plugins.authoring.output.byte_words import Names
from plugins.authoring.output.description import Description, created_words, header_fields
from plugins.board_vectors import SUBSCRIPTION, SubscriptionBody, subscription_body
from plugins.fuzzy.authoring.words import (
    combination_words,
    constraint_words,
    subscription_words,
    threshold_words,
)
from plugins.fuzzy.codec import FuzzyCodec
from watchdog.header import HEADER_LIFETIME
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
    body = subscription_body(vector)
    return _describe_subscription(vector, body, codec.subscription(body), names)


def _describe_subscription(vector: bytes, body: bytes, parts: SubscriptionBody, names: Names) -> Description:
    called = [names.attribute(parts.event, index) for index in parts.attributes]
    combining = combination_words(parts, called)
    constraints = []
    for index, triple, name in zip(parts.attributes, parts.constraints, called, strict=True):
        attribute = names.attribute_of(parts.event, index)
        words = constraint_words(triple, attribute, age=names.is_age(index))
        v, V, g = triple
        constraints.append({"attribute": name, "index": index, "v": v, "V": V, "g": g, "words": words})
    field_words = {
        "stamp": created_words(parts.stamp_s),
        "threshold, aggregator": f"degree {threshold_words(parts.threshold)}; {combining}",
        "pattern block": f"{len(parts.block)} bytes: {combining}",
        "constraint": [f"{one['attribute']} {one['words']}" for one in constraints],
        "event feature": names.event(parts.event),
        "attribute feature": ", ".join(called),
    }
    fields, facts = header_fields(vector)
    fields.take_annotated(SUBSCRIPTION.annotate(body, field_words, names.feature_bytes))
    facts |= {
        "stamp_s": parts.stamp_s,
        "threshold": parts.threshold / 15,
        "threshold_u8": 17 * parts.threshold,
        "aggregator": parts.aggregator,
        "combination": combining,
        "block": parts.block.hex(),
        "event": names.event(parts.event),
        "event_index": parts.event,
        "constraints": constraints,
    }
    sentences = tuple(subscription_words(parts, names, vector[HEADER_LIFETIME]))
    return Description("subscription", vector, fields.found(), sentences, facts)
