"""Descriptions of board notifications (language 1), for every language that listens to them."""

from knowledge_manager.mission_table import MissionTable
from plugins.authoring.output.byte_words import Names, value_words
from plugins.authoring.output.description import Description, Fields, happened_words, lifetime_words
from plugins.board_vectors import NOTIFICATION, decode_notification
from plugins.mission_check import event_in_mission, refuse_unknown_values
from watchdog.lifetime import lifetime_s
from watchdog.vector import HEADER_BYTES, attribute_feature_offset, event_feature_offset


def describe_board_notification(
    vector: bytes, table: MissionTable | None, feature_bytes: int = 1
) -> Description:
    """Describe a notification. Bytes that are invalid or unknown in the mission raise `VectorError`."""
    width = feature_bytes if table is None else table.feature_bytes
    parts = decode_notification(vector, width)
    event, values = parts.event, dict(zip(parts.attributes, parts.values, strict=True))
    if table is not None:
        offsets = event_feature_offset(vector, width), attribute_feature_offset(vector, width)
        known = event_in_mission(table, event, values, event_at=offsets[0], attributes_at=offsets[1])
        refuse_unknown_values(known, values, HEADER_BYTES)
    names = Names(table, width)
    called = {index: names.attribute(event, index) for index in values}
    words = {index: value_words(byte, names.attribute_of(event, index)) for index, byte in values.items()}
    sentences = [f"{called[index]} is {words[index]}" for index in values]
    field_words = {
        "event number": f"{parts.number} at its publisher",
        "valid": lifetime_words(parts.valid),
        "stamp": happened_words(parts.stamp_s),
        "degree": f"released with a degree of at least {parts.degree / 15:.3g}",
        "value": sentences,
        "event feature": names.event(event),
        "attribute feature": ", ".join(called.values()),
    }
    fields = Fields(vector)
    fields.take_annotated(NOTIFICATION.annotate(vector, field_words, width))
    facts = {
        "number": parts.number,
        "valid": parts.valid,
        "valid_s": lifetime_s(parts.valid),
        "stamp_s": parts.stamp_s,
        "degree": parts.degree / 15,
        "degree_u8": 17 * parts.degree,
        "event": names.event(event),
        "event_index": event,
        "values": [
            {"attribute": called[index], "index": index, "byte": byte, "words": words[index]}
            for index, byte in values.items()
        ],
    }
    sentence = f"{names.event(event)} event {parts.number}: {', '.join(sentences)}."
    return Description("notification", vector, fields.found(), (sentence,), facts)
