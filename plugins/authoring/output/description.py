"""Description of a vector, byte by byte, as `dens decode` prints it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from knowledge_manager.durations import written_duration
from watchdog.header import HEADER_ID, HEADER_LIFETIME, HEADER_REVISION
from watchdog.lifetime import lifetime_s

VectorKind = Literal["sv", "nv"]
"""A subscription vector or a notification vector."""


@dataclass(frozen=True, slots=True)
class VectorField:
    """Consecutive bytes of a vector, and their meaning."""

    offset: int
    content: bytes
    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Description:
    """Description of a vector: every byte in `fields`, the whole in `sentences`, its parts in `facts`."""

    kind: str
    vector: bytes
    fields: tuple[VectorField, ...]
    sentences: tuple[str, ...]
    facts: dict[str, Any]

    def lines(self) -> list[str]:
        """Return the sentences, then a table of the bytes."""
        rows = [
            f"{field.offset:>4}  {field.content.hex(' '):<12} {field.name:<22} {field.meaning}"
            for field in self.fields
        ]
        return [f"{self.kind}, {len(self.vector)} bytes", *self.sentences, "", *rows]

    def as_document(self) -> dict[str, Any]:
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


class Fields:
    """Splits a vector into fields, from its front."""

    def __init__(self, vector: bytes) -> None:
        self._vector = vector
        self._taken: list[VectorField] = []
        self._offset = 0

    def take(self, length: int, name: str, meaning: str) -> None:
        """Add a field of the next `length` bytes."""
        content = self._vector[self._offset : self._offset + length]
        self._taken.append(VectorField(self._offset, content, name, meaning))
        self._offset += length

    def take_annotated(self, annotated: Iterable[tuple[str, bytes, str]]) -> None:
        """Add the fields of a codec table with their texts, as its `annotate` yields them."""
        for name, piece, meaning in annotated:
            self.take(len(piece), name, meaning)

    def found(self) -> tuple[VectorField, ...]:
        return tuple(self._taken)


def header_fields(vector: bytes) -> tuple[Fields, dict[str, Any]]:
    """Return the fields of a subscription's header, which all languages share, and their values."""
    fields = Fields(vector)
    fields.take(1, "id", f"number {vector[HEADER_ID]} at its subscriber")
    fields.take(1, "seq", f"revision {vector[HEADER_REVISION]}")
    lives_s = lifetime_s(vector[HEADER_LIFETIME])
    fields.take(1, "valid", lifetime_words(vector[HEADER_LIFETIME]))
    return fields, {
        "id": vector[HEADER_ID],
        "seq": vector[HEADER_REVISION],
        "valid": vector[HEADER_LIFETIME],
        "valid_s": lives_s,
    }


def lifetime_words(lifetime_q: int) -> str:
    return f"lives {written_duration(lifetime_s(lifetime_q))}"


def happened_words(stamp_s: int) -> str:
    return f"happened at {stamp_s} s (modulo 65536)"


def created_words(stamp_s: int) -> str:
    return f"created at {stamp_s} s (modulo 65536)"
