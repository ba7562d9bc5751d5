"""From a vector back to XML that compiles to the same vector: one `<and>` per box."""

from xml.sax.saxutils import escape, quoteattr

from knowledge_manager.durations import written_duration
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.authoring.output.reading_words import decimal_text, reading_words
from plugins.boxes import NAMESPACE
from plugins.boxes.vectors import Box, decode_body, framed_body
from plugins.byte_readings import byte_of, readings_of
from watchdog.header import HEADER_LIFETIME
from watchdog.lifetime import lifetime_code, lifetime_s


def decompile(vector: bytes, table: MissionTable) -> str:
    """Return a document for the vector. Invalid bytes raise `VectorError`."""
    parts = decode_body(framed_body(vector), table.feature_bytes, table)
    event = table.event_at(parts.event)
    attributes = {attribute.index: attribute for attribute in event.attributes}
    boxes = [_box(box, attributes) for box in parts.boxes]
    lines = (
        boxes[0] if len(boxes) == 1 else ["<or>", *(f"  {line}" for box in boxes for line in box), "</or>"]
    )
    seconds = lifetime_s(vector[HEADER_LIFETIME])
    is_said = lifetime_code(seconds) == vector[HEADER_LIFETIME]
    valid = written_duration(seconds) if is_said else f"code:{vector[HEADER_LIFETIME]}"
    head = f"<subscription xmlns={quoteattr(NAMESPACE)} event={quoteattr(event.name)}"
    return "\n".join(
        [
            f"<!-- compile with id {vector[0]}, seq {vector[1]}, stamp {parts.stamp_s} -->",
            f"{head} valid={quoteattr(valid)}>",
            *(f"  {line}" for line in lines),
            "</subscription>",
            "",
        ]
    )


def _box(box: Box, attributes: dict[int, Attribute]) -> list[str]:
    sides = [_side(attributes[index], low, high) for index, low, high in box]
    return ["<and>", *(f"  {side}" for side in sides), "</and>"]


def _side(attribute: Attribute, low: int, high: int) -> str:
    """Return the comparison that describes a byte range, or the bytes if there is none."""
    name = quoteattr(attribute.name)
    readings = readings_of(low, high, attribute)
    if not readings or (byte_of(readings[0][0], attribute), byte_of(readings[0][1], attribute)) != (
        low,
        high,
    ):
        return f'<bytes attribute={name} v="{low}" V="{high}"/>'
    first, last = readings[0]
    if attribute.type == "nominal":
        values = "".join(f"<value>{escape(value)}</value>" for value in attribute.values[first : last + 1])
        return f'<crisp-predicate attribute={name} operator="in">{values}</crisp-predicate>'
    least, most = _constant(first, attribute), _constant(last, attribute)
    if first == attribute.lo_scaled:
        return f'<crisp-predicate attribute={name} operator="le">{most}</crisp-predicate>'
    if last == attribute.hi_scaled:
        return f'<crisp-predicate attribute={name} operator="ge">{least}</crisp-predicate>'
    inner = f"<min>{least}</min><max>{most}</max>"
    return f'<crisp-predicate attribute={name} operator="between">{inner}</crisp-predicate>'


def _constant(reading: int, attribute: Attribute) -> str:
    """Return a reading as in a document, without its unit."""
    if attribute.type == "number":
        return decimal_text(reading, attribute.decimals)
    return reading_words(reading, attribute)
