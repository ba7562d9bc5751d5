"""The container of compiled files: named arrays and texts after a magic number and a checksum.

Layout, little-endian: magic (8 bytes), CRC-32 of the rest, then the sections in a fixed order, each a 32-bit
byte length and its content. All numbers are 32-bit. Texts are packed into one section; a second section holds
the start offset of each text and the end of the last.
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
    """Bytes that are not a valid compiled file. The message names the offset."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(f"byte {offset}: {message}")
        self.offset = offset


def read_sections(
    content: bytes, magic: bytes, names: Sequence[str], texts: Collection[str], what: str
) -> "dict[str, bytes | array[int]]":
    """Return the sections of a compiled file, those in `texts` as bytes. Invalid input raises
    `CompactError`.
    """
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
            raise CompactError(at, f"section {name} has an invalid length")
        part = content[at : at + length]
        sections[name] = part if name in texts else _column(part)
        at += length
    if at != len(content):
        raise CompactError(at, "trailing bytes after the last section")
    return sections


def write_sections(magic: bytes, sections: "Mapping[str, bytes | array[int]]") -> bytes:
    """Return the sections, in their order, as the bytes of a compiled file."""
    parts: list[bytes] = []
    for section in sections.values():
        content = section if isinstance(section, bytes) else _little(section).tobytes()
        parts += [_LENGTH.pack(len(content)), content]
    body = b"".join(parts)
    return _HEADER.pack(magic, zlib.crc32(body)) + body


def pack_texts(texts: Iterable[str]) -> tuple["array[int]", bytes]:
    """Return the start offset of each text (and the end of the last), and the concatenated texts."""
    start = array(WORD, [0])
    encoded = [text.encode() for text in texts]
    for text in encoded:
        start.append(start[-1] + len(text))
    return start, b"".join(encoded)


def start_offsets(lengths: Iterable[int]) -> list[int]:
    """Return the start offset of each part (and the end of the last), from the lengths of the parts."""
    found = [0]
    for length in lengths:
        found.append(found[-1] + length)
    return found


def check_starts(start: "array[int]", end: int, size: int | None = None) -> None:
    """Raise `CompactError` unless the offsets start at 0, ascend and end at `end`. `size` is their expected
    number.
    """
    rising = list(start) == sorted(start)
    if not start or start[0] != 0 or start[-1] != end or not rising or size not in (None, len(start)):
        raise CompactError(_HEADER.size, "the offsets of a section are not ascending")


def check_texts(blob: bytes, start: "array[int]") -> None:
    """Raise `CompactError` unless all texts are UTF-8."""
    check_starts(start, len(blob))
    try:
        blob.decode()
    except UnicodeDecodeError:
        raise CompactError(_HEADER.size, "a text is not UTF-8") from None


def inconsistent_section(name: str) -> CompactError:
    """Return the error for a section whose indexes point outside of the other sections."""
    return CompactError(_HEADER.size, f"section {name} is inconsistent with the others")


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
