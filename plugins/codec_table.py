"""Codec tables: the layout of encoded bytes, one row per field.

A row has the field's name, its width, the parts of the decoded object that its bytes hold, and how these are
read and written. The encoder, the decoder, the description of `dens decode` and the spans of `dens compile
--json` walk the same rows, so that a field is added in one place (decision 0046). Texts and spans are not in
the table: only authors need them, and a node starts without them. They are mappings from field names.

A `CodecTable` takes bytes that were checked before. A `ReaderTable` checks while it reads: its widths follow
from the content of the fields. So does a `StreamTable`, which splits the bytes where its reader marked them:
its fields have pieces with names, and its reader is that of the language.

    >>> from collections import namedtuple
    >>> Dated = namedtuple("Dated", "stamp_s rest")
    >>> table = CodecTable(
    ...     Dated,
    ...     Field("stamp", 2, ("stamp_s",), read_number, lambda parts: parts.stamp_s.to_bytes(2, "big")),
    ...     Field("rest", REST, ("rest",), read_bytes, lambda parts: parts.rest),
    ... )
    >>> table.decode(b"\\x00\\x07ab")
    Dated(stamp_s=7, rest=b'ab')
    >>> table.encode(_)
    b'\\x00\\x07ab'
    >>> list(table.annotate(b"\\x00\\x07a", {"stamp": "seven seconds", "rest": "a letter"}))
    [('stamp', b'\\x00\\x07', 'seven seconds'), ('rest', b'a', 'a letter')]
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from plugins.byte_numbers import ByteReader

Parts = TypeVar("Parts")
"""The decoded object."""


@dataclass(frozen=True, slots=True)
class Width:
    """A width that the bytes determine: its notation in the reference pages, and its rule for the bytes, the
    offset of the field and the number of bytes of a feature.
    """

    notation: str
    rule: Callable[[bytes, int, int], int]


FEATURE: Final = Width("F", lambda data, at, width: width)
REST: Final = Width("the rest", lambda data, at, width: len(data) - at)


@dataclass(frozen=True, slots=True)
class Field(Generic[Parts]):
    """One row: consecutive bytes.

    `read` returns the values of `parts`; `write` returns the bytes, none for an absent field. A field that
    repeats has `elements`, which splits its bytes; `element` then names one, if not as the field.
    """

    name: str
    width: int | Width
    parts: tuple[str, ...]
    read: Callable[[bytes], tuple[Any, ...]]
    write: Callable[[Parts], bytes]
    elements: Callable[[bytes], Sequence[bytes]] | None = None
    element: str | None = None


class CodecTable(Generic[Parts]):
    """Rows in the order of their bytes. `make` takes the parts of all rows, in this order.

    The decoder expects bytes that were checked.
    """

    def __init__(self, make: Callable[..., Parts], *fields: Field[Parts]) -> None:
        self._make = make
        self.fields = fields
        self._rows = [
            (field.read, width, None)
            if isinstance(width := field.width, int)
            else (field.read, 0, width.rule)
            for field in fields
        ]

    def encode(self, parts: Parts) -> bytes:
        return b"".join([field.write(parts) for field in self.fields])

    def decode(self, data: bytes, width: int = 1, *more: object) -> Parts:
        """Return the decoded object; `more` are its last parts, which no field holds."""
        values: list[object] = []
        at = 0
        for read, size, rule in self._rows:
            end = at + (size if rule is None else rule(data, at, width))
            values += read(data[at:end])
            at = end
        return self._make(*values, *more)

    def split(self, data: bytes, width: int = 1) -> Iterator[tuple[Field[Parts], bytes]]:
        """Yield every row with its bytes, none for an absent field."""
        at = 0
        for field in self.fields:
            size = field.width
            end = at + (size if isinstance(size, int) else size.rule(data, at, width))
            yield field, data[at:end]
            at = end

    def annotate(
        self, data: bytes, notes: Mapping[str, Any], width: int = 1
    ) -> Iterator[tuple[str, bytes, Any]]:
        """Yield the name, the bytes and the note of every present field, or of each of its elements.

        `notes` has one note per field, and a sequence of notes for a field that repeats.
        """
        for field, piece in self.split(data, width):
            note = notes[field.name]
            if field.elements is None:
                if piece:
                    yield field.name, piece, note
                continue
            for number, (element, own) in enumerate(zip(field.elements(piece), note, strict=True)):
                yield field.name if field.element is None else f"{field.element} {number}", element, own


@dataclass(frozen=True, slots=True)
class ReaderField(Generic[Parts]):
    """One row of a `ReaderTable`: consecutive bytes, whose width follows from their content.

    `read` takes them from the reader and refuses what `write` does not return. It adds its parts to those of
    the rows before it, by name. `write` returns the bytes, none for an absent field; for a field that repeats
    it returns a list, one entry per element.
    """

    name: str
    read: Callable[[ByteReader, dict[str, Any]], None]
    write: Callable[[Parts], bytes | list[bytes]]


class ReaderTable(Generic[Parts]):
    """Rows in the order of their bytes, for a canonical encoding. `make` takes the parts by name."""

    def __init__(self, make: Callable[..., Parts], *fields: ReaderField[Parts]) -> None:
        self._make = make
        self.fields = fields
        self._reads = [field.read for field in fields]

    def encode(self, parts: Parts) -> bytes:
        written = [field.write(parts) for field in self.fields]
        return b"".join([b"".join(piece) if isinstance(piece, list) else piece for piece in written])

    def decode(self, data: ByteReader) -> Parts:
        """Return the decoded object, or raise `VectorError`."""
        parts: dict[str, Any] = {}
        for read in self._reads:
            read(data, parts)
        data.refuse_rest()
        return self._make(**parts)

    def annotate(self, parts: Parts, notes: Mapping[str, Any]) -> Iterator[tuple[str, bytes, Any]]:
        """Yield the name, the bytes and the note of every present field, or of each of its elements.

        The bytes are written again, instead of split: a canonical encoding has no others.
        """
        for field in self.fields:
            written, note = field.write(parts), notes[field.name]
            if isinstance(written, list):
                for piece, own in zip(written, note, strict=True):
                    yield field.name, piece, own
            elif written:
                yield field.name, written, note


def read_number(data: bytes) -> tuple[int]:
    return (int.from_bytes(data, "big"),)


def read_bytes(data: bytes) -> tuple[bytes]:
    return (data,)


class Reader(Protocol):
    """A position in bytes. For a field of several pieces, `read` appends to `ends` where each one ends."""

    data: bytes
    at: int
    ends: list[int]


Source = TypeVar("Source", bound=Reader)
"""The reader of a layout, with what its fields need to know of earlier ones."""
Written = TypeVar("Written")
"""The object to encode."""


@dataclass(frozen=True, slots=True)
class StreamField(Generic[Source, Written]):
    """One row of a `StreamTable`.

    `width` is the notation of the reference pages. `read` moves the reader behind the field and returns the
    values of `parts`, or raises. `name_piece` names a piece by its number and its bytes, if not as the field.
    """

    name: str
    width: int | str
    parts: tuple[str, ...]
    read: Callable[[Source], tuple[Any, ...]]
    write: Callable[[Written], bytes]
    name_piece: Callable[[int, bytes], str] | None = None


class StreamTable(Generic[Parts, Source, Written]):
    """Rows in the order of their bytes. `make` takes the parts of all rows, in this order."""

    def __init__(self, make: Callable[..., Parts], *fields: StreamField[Source, Written]) -> None:
        self._make = make
        self.fields = fields
        self._reads = [field.read for field in fields]

    def encode(self, written: Written) -> bytes:
        return b"".join([field.write(written) for field in self.fields])

    def decode(self, reader: Source) -> Parts:
        values: list[object] = []
        for read in self._reads:
            values += read(reader)
        return self._make(*values)

    def split(self, reader: Source) -> dict[str, list[bytes]]:
        """Return the pieces of every field, none for an absent one."""
        pieces: dict[str, list[bytes]] = {}
        for field in self.fields:
            begin = reader.at
            reader.ends.clear()
            field.read(reader)
            ends = reader.ends or ([reader.at] if reader.at > begin else [])
            pieces[field.name] = [reader.data[at:end] for at, end in zip([begin, *ends], ends, strict=False)]
        return pieces

    def annotate(
        self, pieces: Mapping[str, Sequence[bytes]], notes: Mapping[str, Any]
    ) -> Iterator[tuple[str, bytes, Any]]:
        """Yield the name, the bytes and the note of every piece that `split` returned.

        `notes` has one note per field, and a sequence of notes for a field whose pieces have names.
        """
        for field in self.fields:
            note, own = notes[field.name], pieces[field.name]
            if field.name_piece is None:
                yield from ((field.name, piece, note) for piece in own)
                continue
            for number, (piece, text) in enumerate(zip(own, note, strict=True)):
                yield field.name_piece(number, piece), piece, text
