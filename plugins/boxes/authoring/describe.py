"""Description of the bytes of boxes."""

from knowledge_manager.mission_table import MissionTable
from plugins.authoring.authoring import VectorKind
from plugins.authoring.output.board_notifications import describe_board_notification
from plugins.authoring.output.byte_words import Names
from plugins.authoring.output.description import Description, created_words, header_fields
from plugins.board_parts import notification_values
from plugins.boxes.authoring.words import box_words
from plugins.boxes.vectors import SUBSCRIPTION, BoxesBody, decode_body, framed_body
from watchdog.header import body_of
from watchdog.vector import VectorError


def describe_vector(vector: bytes, table: MissionTable | None, kind: VectorKind | None = None) -> Description:
    """Describe a vector. Bytes that are invalid, or not of the requested kind, raise `VectorError`.

    Without a kind, they are a notification of the boards' language if valid as one, else a subscription: no
    bytes are both.
    """
    width = 1 if table is None else table.feature_bytes
    if kind == "nv" or (kind is None and _is_told(vector, width)):
        return describe_board_notification(vector, table, width)
    return _subscription(vector, decode_body(framed_body(vector), width, table), Names(table, width))


def _is_told(vector: bytes, width: int) -> bool:
    try:
        notification_values(vector, width)
    except VectorError:
        return False
    return True


def _subscription(vector: bytes, parts: BoxesBody, names: Names) -> Description:
    known = names.event_class(parts.event)
    attributes = {} if known is None else {one.index: one for one in known.attributes}
    words = [box_words(box, attributes) for box in parts.boxes]
    field_words = {"stamp": created_words(parts.stamp_s), "boxes": str(len(words)), "box": words}
    fields, facts = header_fields(vector)
    fields.take_table(SUBSCRIPTION, body_of(vector), field_words, names.feature_bytes)
    facts |= {
        "stamp_s": parts.stamp_s,
        "event": names.event(parts.event),
        "event_index": parts.event,
        "boxes": [
            [{"attribute": index, "v": low, "V": high} for index, low, high in box] for box in parts.boxes
        ],
    }
    sentence = f"{names.event(parts.event)}: " + "; or ".join(words) + "."
    return Description("subscription", vector, fields.found(), (sentence,), facts)
