"""What the bytes of a vector say, one by one and in words: behind `decode` and the check of vector files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from documents.problems import DocumentError, Problem
from documents.reading import decode_text, place_of, read_document
from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.authoring.compiler.durations import written_duration
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
from watchdog.vector import VectorError


@dataclass(frozen=True, slots=True)
class VectorField:
    """Some bytes of a vector that belong together, and what they mean."""

    offset: int
    content: bytes
    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Description:
    """A vector in words: every byte in `fields`, the whole in `sentences`, its parts in `facts`."""

    kind: str
    vector: bytes
    fields: tuple[VectorField, ...]
    sentences: tuple[str, ...]
    facts: dict[str, Any]

    def lines(self) -> list[str]:
        """Return the description for a terminal: the sentences, then a table of the bytes."""
        rows = [
            f"{field.offset:>4}  {field.content.hex(' '):<12} {field.name:<22} {field.meaning}"
            for field in self.fields
        ]
        return [f"{self.kind}, {len(self.vector)} bytes", *self.sentences, "", *rows]

    def as_document(self) -> dict[str, Any]:
        """Return the description as a JSON document."""
        return {
            "kind": self.kind,
            "vector": self.vector.hex(),
            "bytes": len(self.vector),
            "words": list(self.sentences),
            **self.facts,
            "fields": [
                {
                    "offset": field.offset,
                    "bytes": field.content.hex(),
                    "name": field.name,
                    "meaning": field.meaning,
                }
                for field in self.fields
            ],
        }


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


def check_vector_file(path: Path, table: MissionTable | None = None) -> list[Problem]:
    """Return what is wrong with a file of vectors: hex, one on each line, or the bytes of a single one.

    A file that ends in .sv must hold a subscription, one that ends in .nv a notification.
    """
    file = str(path)
    kind = {".sv": "sv", ".nv": "nv"}.get(path.suffix)
    try:
        content = read_document(path)
        if path.suffix != ".hex":
            describe_vector(content, table, kind)
            return []
        text = decode_text(content, file)
    except DocumentError as error:
        return list(error.problems)
    except VectorError as error:
        return [Problem(file, 0, 0, "error", "D401", str(error))]
    return _check_lines(text, file, table)


def _check_lines(text: str, file: str, table: MissionTable | None) -> list[Problem]:
    problems = []
    start = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            number, column = place_of(text, start + len(line) - len(line.lstrip()))
            try:
                describe_vector(bytes.fromhex(line.strip()), table)
            except VectorError as error:
                problems.append(Problem(file, number, column + 2 * error.offset, "error", "D401", str(error)))
            except ValueError:
                message = "this is not hexadecimal; write pairs of 0-9 and a-f"
                problems.append(Problem(file, number, column, "error", "D402", message))
        start += len(line)
    return problems


def _describe_subscription(vector: bytes, parts: SubscriptionVector, names: Names) -> Description:
    called = [names.attribute(parts.event, index) for index in parts.attributes]
    fields = _Fields(vector)
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
    fields = _Fields(vector)
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


class _Fields:
    """Takes a vector's bytes from its front, one field after the other."""

    def __init__(self, vector: bytes) -> None:
        self._vector = vector
        self._taken: list[VectorField] = []
        self._offset = 0

    def take(self, length: int, name: str, meaning: str) -> None:
        content = self._vector[self._offset : self._offset + length]
        self._taken.append(VectorField(self._offset, content, name, meaning))
        self._offset += length

    def found(self) -> tuple[VectorField, ...]:
        return tuple(self._taken)
