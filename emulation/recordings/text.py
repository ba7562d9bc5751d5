"""Lines of an untrusted recording, plain or compressed with gzip, read as a stream within limits.

Seven megabytes of gzip can contain gigabytes. A file is therefore never decompressed as a whole: lines are
read one by one, with limits for the bytes, the lines and the length of a line.
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
"""Decompressed: some twenty million lines of contacts."""
MOST_LINES: Final = 20_000_000
LONGEST_LINE: Final = 16 * 1024 * 1024
"""Bytes. BonnMotion writes the whole walk of a node into one line."""
_GZIP: Final = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class TextBounds:
    """Limits of a text; exceeding one is an error."""

    most_bytes: int = MOST_BYTES
    most_lines: int = MOST_LINES
    longest_line: int = LONGEST_LINE


def text_lines(path: Path, damaged: str, bounds: TextBounds = TextBounds()) -> Iterator[str]:  # noqa: B008
    """Yield the lines of a UTF-8 text file with their line ends, one at a time in memory.

    Raise `DocumentError` if it cannot be read; `damaged` is the code for a file that cannot be decompressed.
    """
    with open_document(path) as file:
        is_packed = file.peek(2)[:2] == _GZIP  # type: ignore[attr-defined]
        source: BinaryIO = gzip.GzipFile(fileobj=file) if is_packed else file  # type: ignore[assignment]
        try:
            yield from _bounded(source, str(path), bounds)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DocumentError.of_file(str(path), damaged, f"cannot be decompressed: {error}") from None
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
            raise _too_much(file, number, f"{bounds.most_bytes:,} bytes of text, decompressed")
        if number > bounds.most_lines:
            raise _too_much(file, number, f"{bounds.most_lines:,} lines")
        if len(line) > bounds.longest_line:
            message = f"this line is longer than {bounds.longest_line:,} bytes; is this file a recording?"
            raise DocumentError([Problem(file, number, 1, "error", "D386", message)])
        yield _decoded(line, file, number)


def _decoded(line: bytes, file: str, number: int) -> str:
    if line.isascii() and b"\0" not in line:
        return line.decode("ascii")  # Nearly all lines of nearly all recordings.
    try:
        text = decode_text(line, file)
    except DocumentError as error:
        raise DocumentError(
            Problem(file, number, problem.column, problem.severity, problem.code, problem.message)
            for problem in error.problems
        ) from None
    return text


def _too_much(file: str, line: int, what: str) -> DocumentError:
    message = f"more than {what}, the limit; split the recording into shorter ones"
    return DocumentError([Problem(file, line, 1, "error", "D385", message)])
