"""What the bytes of a fuzzy vector say, one by one and in words."""

from knowledge_manager.durations import written_duration
from knowledge_manager.mission_table import MissionTable
from plugins.authoring.description import Description, Fields
from plugins.fuzzy.authoring.words import (
    Names,
    combination_words,
    constraint_words,
    subscription_words,
    threshold_words,
    value_words,
)
from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.vectors import NotificationVector, SubscriptionVector
from watchdog.lifetime import lifetime_s


def describe_vector(
    vector: bytes, table: MissionTable | None = None, kind: str | None = None, feature_bytes: int = 1
) -> Description:
    """Return what a vector says; bytes that are none, or not of the kind asked for ("sv", "nv"), raise
    `VectorError`.
    """
    codec = FuzzyCodec(table, feature_bytes)
    names = Names(table, codec.feature_bytes)
    if kind == "sv":
        parts: SubscriptionVector | NotificationVector = codec.subscription(vector)
    elif kind == "nv":
        parts = codec.notification(vector)
    else:
        parts = codec.any(vector)
    if isinstance(parts, SubscriptionVector):
        return _describe_subscription(vector, parts, names)
    return _describe_notification(vector, parts, names)


def _describe_subscription(vector: bytes, parts: SubscriptionVector, names: Names) -> Description:
    called = [names.attribute(parts.event, index) for index in parts.attributes]
    fields = Fields(vector)
    fields.take(1, "id", f"number {parts.id} at its subscriber")
    fields.take(1, "seq", f"revision {parts.seq}")
    fields.take(1, "valid", f"lives {written_duration(lifetime_s(parts.valid))}")
    fields.take(2, "stamp", f"created at {parts.stamp_s} s (modulo 65536)")
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
    facts = {
        "id": parts.id,
        "seq": parts.seq,
        "valid": parts.valid,
        "valid_s": lifetime_s(parts.valid),
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
    sentences = tuple(subscription_words(parts, names))
    return Description("subscription", vector, fields.found(), sentences, facts)


def _describe_notification(vector: bytes, parts: NotificationVector, names: Names) -> Description:
    called = [names.attribute(parts.event, index) for index in parts.attributes]
    told = [
        value_words(byte, names.attribute_of(parts.event, index))
        for index, byte in zip(parts.attributes, parts.values, strict=True)
    ]
    fields = Fields(vector)
    fields.take(2, "event number", f"{parts.number} at its publisher")
    fields.take(1, "valid", f"lives {written_duration(lifetime_s(parts.valid))}")
    fields.take(2, "stamp", f"happened at {parts.stamp_s} s (modulo 65536)")
    fields.take(1, "degree", f"released with a degree of at least {parts.degree / 15:.3g}")
    for name, words in zip(called, told, strict=True):
        fields.take(1, "value", f"{name} is {words}")
    fields.take(names.feature_bytes, "event feature", names.event(parts.event))
    fields.take(names.feature_bytes, "attribute feature", ", ".join(called))
    facts = {
        "number": parts.number,
        "valid": parts.valid,
        "valid_s": lifetime_s(parts.valid),
        "stamp_s": parts.stamp_s,
        "degree": parts.degree / 15,
        "degree_u8": 17 * parts.degree,
        "event": names.event(parts.event),
        "event_index": parts.event,
        "values": [
            {"attribute": name, "index": index, "byte": byte, "words": words}
            for name, index, byte, words in zip(called, parts.attributes, parts.values, told, strict=True)
        ],
    }
    listed_values = ", ".join(f"{name} is {words}" for name, words in zip(called, told, strict=True))
    sentence = f"{names.event(parts.event)} event {parts.number}: {listed_values}."
    return Description("notification", vector, fields.found(), (sentence,), facts)
