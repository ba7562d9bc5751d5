"""Reads files written by people: limited in size, as UTF-8 text, or refused with a code."""

from pathlib import Path
from typing import BinaryIO

from dens.config.problems import DocumentError, Problem, nearest

LARGEST_DOCUMENT = 64 * 1024
"""Bytes. Documents written by hand are far smaller."""


def read_document(path: Path, limit: int = LARGEST_DOCUMENT) -> bytes:
    """Return the bytes of a file; one that is missing, unreadable or too large raises `DocumentError`."""
    with open_document(path) as stream:
        try:
            content = stream.read(limit + 1)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise DocumentError.of_file(str(path), "D002", f"cannot be read: {reason}") from None
    refuse_large(content, str(path), limit)
    return content


def open_document(path: Path) -> BinaryIO:
    """Open a file; one that is missing, unreadable or not a regular file raises `DocumentError`."""
    try:
        if path.exists() and not path.is_file():
            raise DocumentError.of_file(str(path), "D002", "cannot be read: it is not a regular file")
        return path.open("rb")
    except FileNotFoundError:
        raise DocumentError.of_file(
            str(path), "D001", f"file not found{_near_file(path)}; check the path"
        ) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DocumentError.of_file(str(path), "D002", f"cannot be read: {reason}") from None
    except ValueError:
        raise DocumentError.of_file(repr(str(path)), "D002", "cannot be read: not a valid path") from None


def refuse_large(content: bytes, file: str, limit: int = LARGEST_DOCUMENT) -> None:
    """Raise `DocumentError` when there are more bytes than any document may have."""
    if len(content) > limit:
        raise DocumentError.of_file(file, "D003", f"is larger than {limit} bytes, the most that is read")


def decode_text(content: bytes, file: str) -> str:
    """Return the text of a document; bytes that are no UTF-8, or a NUL among them, raise `DocumentError`."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _place_of_byte(content, error.start)
        bad = f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise DocumentError([Problem(file, line, column, "error", "D004", bad)]) from None
    nul = text.find("\0")
    if nul >= 0:
        line, column = place_of(text, nul)
        message = "NUL character; this is not a text file"
        raise DocumentError([Problem(file, line, column, "error", "D004", message)])
    return text


def read_text(path: Path, limit: int = LARGEST_DOCUMENT) -> str:
    """Return the text of a file, or raise `DocumentError` for anything that is not readable, small UTF-8
    text.
    """
    return decode_text(read_document(path, limit), str(path))


def place_of(text: str, index: int) -> tuple[int, int]:
    """Return (line, column), both from 1, of the character at `index`."""
    line_start = text.rfind("\n", 0, index) + 1
    return text.count("\n", 0, index) + 1, index - line_start + 1


def _place_of_byte(content: bytes, index: int) -> tuple[int, int]:
    return place_of(
        content[:index].decode("utf-8", "replace") + "\0", len(content[:index].decode("utf-8", "replace"))
    )


def _near_file(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except (OSError, ValueError):
        return ""
    found = nearest(path.name, names)
    return f' (did you mean "{found}"?)' if found is not None else ""
