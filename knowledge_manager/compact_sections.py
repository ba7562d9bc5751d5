"""How compiled files lie: named arrays and texts behind a magic and a checksum, loaded without a parser.

Layout, little-endian: the magic (8 bytes), the CRC-32 of all that follows, then the sections in an agreed
order, each a 32-bit length in bytes and its content. All numbers are 32-bit. Texts lie packed in one section,
and another one says where each begins, and one end more.
"""

import struct
import sys
import zlib
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

_HEADER: Final = struct.Struct("<8sI")
_LENGTH: Final = struct.Struct("<I")
WORD: Final = "I" if array("I").itemsize == 4 else "L"


class CompactError(ValueError):
    """Bytes that are no compiled file: what is wrong, and at which offset."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(f"byte {offset}: {message}")
        self.offset = offset


def read_sections(
    content: bytes, magic: bytes, names: Sequence[str], texts: Collection[str], what: str
) -> "dict[str, bytes | array[int]]":
    """Return the sections of a compiled file, those in `texts` as bytes, or raise `CompactError`."""
    if len(content) < _HEADER.size:
        raise CompactError(len(content), f"too short for a compiled {what}")
    found, checksum = _HEADER.unpack_from(content)
    if found != magic:
        raise CompactError(0, f"not a compiled {what} of this version")
    if zlib.crc32(memoryview(content)[_HEADER.size :]) != checksum:
        raise CompactError(8, f"the checksum is wrong; compile the {what} again")
    sections: dict[str, bytes | array[int]] = {}
    at = _HEADER.size
    for name in names:
        if at + _LENGTH.size > len(content):
            raise CompactError(at, f"section {name} is missing")
        (length,) = _LENGTH.unpack_from(content, at)
        at += _LENGTH.size
        if at + length > len(content) or (name not in texts and length % 4):
            raise CompactError(at, f"section {name} does not fit")
        part = content[at : at + length]
        sections[name] = part if name in texts else _column(part)
        at += length
    if at != len(content):
        raise CompactError(at, "bytes after the last section")
    return sections


def written_sections(magic: bytes, sections: "Mapping[str, bytes | array[int]]") -> bytes:
    """Return the compiled file of sections, in their order."""
    parts: list[bytes] = []
    for section in sections.values():
        content = section if isinstance(section, bytes) else _little(section).tobytes()
        parts += [_LENGTH.pack(len(content)), content]
    body = b"".join(parts)
    return _HEADER.pack(magic, zlib.crc32(body)) + body


def packed(texts: Iterable[str]) -> tuple["array[int]", bytes]:
    """Return where each text begins, and the texts behind one another."""
    start = array(WORD, [0])
    encoded = [text.encode() for text in texts]
    for text in encoded:
        start.append(start[-1] + len(text))
    return start, b"".join(encoded)


def starts(lengths: Iterable[int]) -> list[int]:
    """Return where parts of these lengths begin, and where the last one ends."""
    found = [0]
    for length in lengths:
        found.append(found[-1] + length)
    return found


def check_starts(start: "array[int]", end: int, size: int | None = None) -> None:
    """Raise `CompactError` unless these begin at 0, rise, and end at `end`; `size` is how many there are."""
    rising = list(start) == sorted(start)
    if not start or start[0] != 0 or start[-1] != end or not rising or size not in (None, len(start)):
        raise CompactError(_HEADER.size, "the parts of a section do not follow each other")


def check_texts(blob: bytes, start: "array[int]") -> None:
    """Raise `CompactError` unless every one of the texts is UTF-8."""
    check_starts(start, len(blob))
    try:
        blob.decode()
    except UnicodeDecodeError:
        raise CompactError(_HEADER.size, "a text is no UTF-8") from None


def disagreement(name: str) -> CompactError:
    """Return the error that refuses a section whose numbers lead out of the others."""
    return CompactError(_HEADER.size, f"section {name} does not agree with the others")


def _column(content: bytes) -> "array[int]":
    column = array(WORD)
    column.frombytes(content)
    if sys.byteorder == "big":
        column.byteswap()
    return column


def _little(column: "array[int]") -> "array[int]":
    if sys.byteorder == "little":
        return column
    swapped = array(WORD, column)
    swapped.byteswap()
    return swapped
