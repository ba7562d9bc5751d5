"""Encoding of the language: one event class, and 1 to 64 boxes in canonical form.

    id seq valid stamp stamp m (length part)…        part = 00 (v V 7f)… SEF SAF

A part is a crisp subscription of the boards' language from its byte 5 on, so that boards get it unchanged.
Parts are in ascending order, the shorter first, none inside another; a range of all bytes restricts nothing
and is not written.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.vocabulary import EventClass
from plugins.board_parts import CRISP
from plugins.codec_table import REST, CodecTable, Field, read_number
from plugins.mission_check import event_in_mission
from plugins.stamps import stamp_bytes
from watchdog.header import BODY_AT, body_of
from watchdog.vector import VectorError, cardinality, indexes

MOST_BOXES: Final = 64
LAST_BYTE: Final = 255
_COUNT_AT, _BOXES_AT = 5, 6
"""Offsets in the whole vector."""

Side = tuple[int, int, int]
"""(attribute, low, high): a byte range, inclusive."""

Box = tuple[Side, ...]
"""Sides by attribute, the lowest first."""


@dataclass(frozen=True, slots=True)
class BoxesBody:
    """A subscription's parts."""

    stamp_s: int
    event: int
    boxes: tuple[Box, ...]


def mask_of_box(box: Box) -> int:
    """Return the attributes that a box constrains."""
    return sum(1 << attribute for attribute, _, _ in box)


def needed_masks(boxes: tuple[Box, ...]) -> list[int]:
    """Return the minimal masks among boxes: a publisher that measures one of them can serve the
    subscription.
    """
    masks = {mask_of_box(box) for box in boxes}
    return sorted(mask for mask in masks if not any(other != mask and other & ~mask == 0 for other in masks))


def is_inside(box: Box, other: Box) -> bool:
    """Return whether a box lies inside another."""
    own = {attribute: (low, high) for attribute, low, high in box}
    return all(
        attribute in own and low <= own[attribute][0] and own[attribute][1] <= high
        for attribute, low, high in other
    )


def spelling(box: Box, event: int, width: int) -> bytes:
    """Return the bytes of a box, without its length."""
    triples = b"".join(bytes((low, high, CRISP)) for _, low, high in box)
    features = (1 << event).to_bytes(width, "big") + mask_of_box(box).to_bytes(width, "big")
    return b"\x00" + triples + features


class _Spelt(NamedTuple):
    """A subscription whose boxes are bytes, in ascending order."""

    stamp_s: int
    parts: tuple[bytes, ...]


def _split_boxes(data: bytes) -> list[bytes]:
    """Return each box with its length byte."""
    boxes, at = [], 0
    while at < len(data):
        boxes.append(data[at : at + 1 + data[at]])
        at += 1 + data[at]
    return boxes


SUBSCRIPTION: Final[CodecTable[_Spelt]] = CodecTable(
    _Spelt,
    Field("stamp", 2, ("stamp_s",), read_number, lambda spelt: stamp_bytes(spelt.stamp_s)),
    Field("boxes", 1, (), lambda data: (), lambda spelt: bytes((len(spelt.parts),))),
    Field(
        "box",
        REST,
        ("parts",),
        lambda data: (tuple(box[1:] for box in _split_boxes(data)),),
        lambda spelt: b"".join(bytes((len(part),)) + part for part in spelt.parts),
        elements=_split_boxes,
        element="box",
    ),
)
"""The body of a subscription."""


def encode_body(parts: BoxesBody, width: int) -> bytes:
    """Return the body of a subscription; boxes are sorted. An invalid subscription raises `VectorError`."""
    spelt = sorted((spelling(box, parts.event, width) for box in parts.boxes), key=_place)
    body = SUBSCRIPTION.encode(_Spelt(parts.stamp_s, tuple(spelt)))
    decode_body(body, width)
    return body


def decode_body(body: bytes, width: int, table: MissionTable | None = None) -> BoxesBody:
    """Return the parts of a body. Invalid bytes, and references unknown in the mission, raise `VectorError`;
    offsets are those of the whole vector.
    """
    length = BODY_AT + len(body)
    if length < _BOXES_AT:
        raise VectorError(length, "too short for boxes")
    count = body[_COUNT_AT - BODY_AT]
    if not 1 <= count <= MOST_BOXES:
        raise VectorError(_COUNT_AT, f"{count} boxes; expected 1 to {MOST_BOXES}")
    at, before, event = _BOXES_AT, b"", -1
    boxes: list[Box] = []
    stamp_s, parts = SUBSCRIPTION.decode(body)
    for part in parts[:count]:
        if len(part) < body[at - BODY_AT]:
            raise VectorError(length, "the last box is cut off")
        own, box = _decode_part(part, at + 1, width)
        if boxes and own != event:
            raise VectorError(at, "boxes have different event classes")
        if boxes and _place(part) <= _place(before):
            raise VectorError(at, "boxes are not in ascending order, or one occurs twice")
        event, before, at = own, part, at + 1 + len(part)
        boxes.append(box)
    if len(parts) < count:
        raise VectorError(length, "the last box is cut off")
    if at != length:
        raise VectorError(at, "trailing bytes after the last box")
    for number, box in enumerate(boxes):
        if any(other is not box and is_inside(box, other) for other in boxes):
            raise VectorError(_COUNT_AT, f"box {number} lies inside another one")
    if table is not None:
        _check_names(event, boxes, table, length)
    return BoxesBody(stamp_s, event, tuple(boxes))


def last_bytes(event: EventClass) -> Mapping[int, int]:
    """Return the greatest byte of each attribute: 255, or the last of its listed values."""
    return {
        attribute.index: len(attribute.values) - 1 if attribute.type == "nominal" else LAST_BYTE
        for attribute in event.attributes
    }


def framed_body(vector: bytes) -> bytes:
    """Return the body of a whole vector, which must be long enough."""
    if len(vector) <= _BOXES_AT:
        raise VectorError(len(vector), "too short for boxes")
    return body_of(vector)


def _place(part: bytes) -> tuple[int, bytes]:
    return len(part), part


def _decode_part(part: bytes, at: int, width: int) -> tuple[int, Box]:
    """Return event class and sides of one box, which begins at byte `at` of its vector."""
    if len(part) < 1 + 3 + 2 * width:
        raise VectorError(at, "too short for a box")
    if part[0]:
        raise VectorError(at, "a box begins with 0")
    if cardinality(part, len(part) - 2 * width, width) != 1:
        raise VectorError(at + len(part) - 2 * width, "the event feature must name exactly one event class")
    found = bytearray(8 * width)
    indexes(part, len(part) - 2 * width, width, found)
    event = found[0]
    count = indexes(part, len(part) - width, width, found)
    if not count or len(part) != 1 + 3 * count + 2 * width:
        raise VectorError(at, f"{len(part)} bytes, but the features need {1 + 3 * count + 2 * width}")
    if part[len(part) - width] & 128:
        raise VectorError(at + len(part) - width, "boxes do not constrain the age of events")
    sides = []
    for rank in range(count):
        low, high, slope = part[1 + 3 * rank : 4 + 3 * rank]
        if slope != CRISP:
            raise VectorError(at + 3 + 3 * rank, "a side is not crisp: its slope is not 127")
        if low > high:
            raise VectorError(at + 1 + 3 * rank, "v is greater than V")
        if (low, high) == (0, LAST_BYTE):
            raise VectorError(at + 1 + 3 * rank, "a range of all bytes restricts nothing")
        sides.append((found[rank], low, high))
    return event, tuple(sides)


def _check_names(event: int, boxes: list[Box], table: MissionTable, length: int) -> None:
    width = table.feature_bytes
    named = {attribute for box in boxes for attribute, _, _ in box}
    known = event_in_mission(table, event, named, event_at=length - 2 * width, attributes_at=length - width)
    last_of = last_bytes(known)
    for box in boxes:
        for attribute, low, high in box:
            last = last_of[attribute]
            if high > last or (low == 0 and high == last and last):
                message = f"values {low} to {high} of 0 to {last} are none or all"
                raise VectorError(_BOXES_AT, message)
