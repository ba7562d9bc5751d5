"""Texts of boxes, and the description of their bytes."""

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.authoring.output.board_notifications import describe_board_notification
from plugins.authoring.output.byte_words import Names
from plugins.authoring.output.description import Description, VectorKind, created_words, header_fields
from plugins.authoring.output.reading_words import reading_words
from plugins.board_parts import notification_values
from plugins.boxes.vectors import SUBSCRIPTION, Box, BoxesBody, decode_body, framed_body
from plugins.byte_readings import Range, readings_of
from watchdog.header import body_of
from watchdog.vector import VectorError


def byte_words(runs: tuple[Range, ...]) -> str:
    """Return ranges of bytes.

    >>> byte_words(((0, 152), (154, 255)))
    '00..98 and 9a..ff'
    """
    return " and ".join(f"{low:02x}..{high:02x}" for low, high in runs)


def runs_words(runs: tuple[Range, ...], attribute: Attribute) -> str:
    """Return the readings of byte ranges as text: `from 27.5 ppm on`, `up to 06:02 and from 22:00`."""
    return " and ".join(_range_words(run, attribute) for run in runs)


def _range_words(run: Range, attribute: Attribute) -> str:
    readings = readings_of(*run, attribute)
    if not readings:
        return "for no reading"
    first, last = readings[0]
    low, high = reading_words(first, attribute), reading_words(last, attribute)
    if attribute.type == "nominal":
        return "for " + ", ".join(reading_words(reading, attribute) for reading in range(first, last + 1))
    if first == last:
        return f"for {low} alone"
    if last == attribute.hi_scaled:
        return f"from {low} on"
    if first == attribute.lo_scaled:
        return f"up to {high}"
    return f"from {low} to {high}"


def box_words(box: Box, attributes: dict[int, Attribute]) -> str:
    """Return the text of a box; without a mission, its bytes."""
    sides = []
    for index, low, high in box:
        attribute = attributes.get(index)
        if attribute is None:
            sides.append(f"attribute {index} in {byte_words(((low, high),))}")
        else:
            sides.append(f"{attribute.name} {runs_words(((low, high),), attribute)}")
    return " and ".join(sides)


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
    fields.take_annotated(SUBSCRIPTION.annotate(body_of(vector), field_words, names.feature_bytes))
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
