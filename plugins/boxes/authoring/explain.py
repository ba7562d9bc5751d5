"""Explains which box a reading matches, or which side of each box misses it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import UnknownName
from plugins.authoring.constants import reading_of
from plugins.authoring.output.reading_words import amount_words, reading_words
from plugins.boxes.authoring.words import byte_words, runs_words
from plugins.boxes.vectors import decode_body, framed_body
from plugins.byte_readings import byte_of, first_reading, step_at


@dataclass(frozen=True, slots=True)
class ExplainedSide:
    """One range and its result for a value: 0 inside, else the number of bytes below or above; None without a
    value.
    """

    attribute: str
    words: str
    low: int
    high: int
    step: str
    value: str | None
    byte: int | None
    missed_by: int | None

    def line(self) -> str:
        bytes_ = byte_words(((self.low, self.high),))
        wanted = f"{self.attribute} {self.words} (bytes {bytes_}, steps of {self.step})"
        if self.missed_by is None:
            return f"  ?  {wanted}: no value given"
        value = f"{self.value} (byte {self.byte:02x})"
        if self.missed_by == 0:
            return f"  +  {wanted}: {value}"
        side = "below" if self.missed_by < 0 else "above"
        return f"  -  {wanted}: {value} is {abs(self.missed_by)} steps {side}"


@dataclass(frozen=True, slots=True)
class ExplainedBoxes:
    """All boxes, and the first one that contains the values."""

    boxes: tuple[tuple[ExplainedSide, ...], ...]
    met: int | None
    is_asked: bool

    def lines(self) -> list[str]:
        found = []
        for number, sides in enumerate(self.boxes):
            found += [f"box {number}", *(side.line() for side in sides)]
        if self.is_asked:
            found.append(
                "does not match: outside every box" if self.met is None else f"matches: box {self.met}"
            )
        return found

    def as_document(self) -> dict[str, Any]:
        return {
            "boxes": [
                [
                    {
                        "attribute": side.attribute,
                        "words": side.words,
                        "v": side.low,
                        "V": side.high,
                        "step": side.step,
                        "value": side.value,
                        "byte": side.byte,
                        "missed_by": side.missed_by,
                    }
                    for side in sides
                ]
                for sides in self.boxes
            ],
            "box": self.met,
            "matches": self.met is not None,
        }


def explain_boxes(
    vector: bytes, table: MissionTable, values: Mapping[str, str], age_s: int
) -> ExplainedBoxes:
    """Return the evaluation of an event with these values, each rounded as a source does."""
    parts = decode_body(framed_body(vector), table.feature_bytes, table)
    event = table.event_at(parts.event)
    known = {attribute.name: attribute for attribute in event.attributes}
    readings: dict[int, tuple[str, int]] = {}
    for name, text in values.items():
        if name not in known:
            raise UnknownName("attribute", name, list(known), event.name)
        reading = reading_of(text, known[name])
        readings[known[name].index] = reading_words(reading, known[name]), byte_of(reading, known[name])
    boxes = []
    for box in parts.boxes:
        sides = []
        for index, low, high in box:
            attribute = event.attribute_at(index)
            value, byte = readings.get(index, (None, None))
            missed = None if byte is None else min(byte - low, 0) or max(byte - high, 0)
            step = amount_words(step_at(first_reading(low, attribute), attribute), attribute)
            words = runs_words(((low, high),), attribute)
            sides.append(ExplainedSide(attribute.name, words, low, high, step, value, byte, missed))
        boxes.append(tuple(sides))
    met = next((n for n, sides in enumerate(boxes) if all(side.missed_by == 0 for side in sides)), None)
    return ExplainedBoxes(tuple(boxes), met, bool(values))
