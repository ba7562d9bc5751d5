"""The lines of a recording that somebody sent, plain or packed with gzip, read as a stream within bounds.

Seven megabytes of gzip can hold gigabytes. So a file is never unpacked as a whole: lines come one by one, and
how many bytes, how many lines and how long a line there may be is said beforehand and told when it is
exceeded.
"""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from dens.config.problems import DocumentError, Problem
from dens.config.reading import decode_text, open_document

MOST_BYTES: Final = 1 << 30
"""Unpacked: some twenty million lines of contacts."""
MOST_LINES: Final = 20_000_000
LONGEST_LINE: Final = 16 * 1024 * 1024
"""Bytes. BonnMotion writes all that a node does into one line."""
_GZIP: Final = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class TextBounds:
    """How much of a text is read at most; more is refused with what to do."""

    most_bytes: int = MOST_BYTES
    most_lines: int = MOST_LINES
    longest_line: int = LONGEST_LINE


def text_lines(path: Path, damaged: str, bounds: TextBounds = TextBounds()) -> Iterator[str]:  # noqa: B008
    """Yield the lines of a text file in UTF-8 with their ends, in memory one at a time.

    What cannot be read raises `DocumentError`; `damaged` is the code for a packed file that cannot be
    unpacked.
    """
    with open_document(path) as file:
        is_packed = file.peek(2)[:2] == _GZIP  # type: ignore[attr-defined]
        source: BinaryIO = gzip.GzipFile(fileobj=file) if is_packed else file  # type: ignore[assignment]
        try:
            yield from _bounded(source, str(path), bounds)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DocumentError.of_file(str(path), damaged, f"cannot be unpacked: {error}") from None
        except OSError as error:
            raise DocumentError.of_file(
                str(path), "D002", f"cannot be read: {error.strerror or error}"
            ) from None


def _bounded(source: BinaryIO, file: str, bounds: TextBounds) -> Iterator[str]:
    number = size = 0
    while line := source.readline(bounds.longest_line + 1):
        number += 1
        size += len(line)
        if size > bounds.most_bytes:
            raise _too_much(file, number, f"{bounds.most_bytes:,} bytes of text, unpacked")
        if number > bounds.most_lines:
            raise _too_much(file, number, f"{bounds.most_lines:,} lines")
        if len(line) > bounds.longest_line:
            message = f"this line is longer than {bounds.longest_line:,} bytes; is this file a recording?"
            raise DocumentError([Problem(file, number, 1, "error", "D386", message)])
        yield _decoded(line, file, number)


def _decoded(line: bytes, file: str, number: int) -> str:
    if line.isascii() and b"\0" not in line:
        return line.decode("ascii")  # nearly all lines of nearly all recordings
    try:
        text = decode_text(line, file)
    except DocumentError as error:
        raise DocumentError(
            Problem(file, number, one.column, one.severity, one.code, one.message) for one in error.problems
        ) from None
    return text


def _too_much(file: str, line: int, what: str) -> DocumentError:
    message = f"there is more than {what}, the most that is read; cut the recording into shorter ones"
    return DocumentError([Problem(file, line, 1, "error", "D385", message)])
