"""Descriptions of board notifications (language 1), for every language that listens to them."""

from knowledge_manager.mission_table import MissionTable
from plugins.authoring.output.byte_words import Names, value_words
from plugins.authoring.output.description import Description, notification_head
from plugins.board_parts import notification_values
from plugins.mission_check import event_in_mission, refuse_unknown_values
from plugins.stamps import board_event_s
from watchdog.vector import HEADER_BYTES, attribute_feature_offset, event_feature_offset

_DEGREE_AT = 5


def describe_board_notification(
    vector: bytes, table: MissionTable | None, feature_bytes: int = 1
) -> Description:
    """Describe a notification. Bytes that are invalid or unknown in the mission raise `VectorError`."""
    width = feature_bytes if table is None else table.feature_bytes
    event, values = notification_values(vector, width)
    if table is not None:
        offsets = event_feature_offset(vector, width), attribute_feature_offset(vector, width)
        known = event_in_mission(table, event, values, event_at=offsets[0], attributes_at=offsets[1])
        refuse_unknown_values(known, values, HEADER_BYTES)
    names = Names(table, width)
    called = {index: names.attribute(event, index) for index in values}
    told = {index: value_words(byte, names.attribute_of(event, index)) for index, byte in values.items()}
    fields, facts = notification_head(vector, board_event_s(vector))
    degree = vector[_DEGREE_AT] >> 4
    fields.take(1, "degree", f"released with a degree of at least {degree / 15:.3g}")
    for index in values:
        fields.take(1, "value", f"{called[index]} is {told[index]}")
    fields.take(width, "event feature", names.event(event))
    fields.take(width, "attribute feature", ", ".join(called.values()))
    facts |= {
        "degree": degree / 15,
        "degree_u8": 17 * degree,
        "event": names.event(event),
        "event_index": event,
        "values": [
            {"attribute": called[index], "index": index, "byte": byte, "words": told[index]}
            for index, byte in values.items()
        ],
    }
    listed = ", ".join(f"{called[index]} is {told[index]}" for index in values)
    sentence = f"{names.event(event)} event {facts['number']}: {listed}."
    return Description("notification", vector, fields.found(), (sentence,), facts)
