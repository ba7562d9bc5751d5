"""How any file is refused: where, with which stable code, and what to do about it.

Every room that reads a file a person wrote (vocabulary, subscription, scenario) reports what is wrong with
it as `Problem`s and raises them all at once as one `DocumentError`. The codes are stable; each has a page
under docs/errors/. Their blocks: D0xx files and syntax, D1xx subscriptions, D2xx vocabularies, D3xx
scenarios, D4xx vectors.
"""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

Severity = Literal["error", "warning"]

LARGEST_DOCUMENT = 64 * 1024
"""Bytes. Nothing a person writes for this system comes near it; what does is refused unread."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong, at one place of one file. Lines and columns count from 1; 0 means the whole
    file.
    """

    file: str
    line: int
    column: int
    severity: Severity
    code: str
    message: str

    def __str__(self) -> str:
        """Return the line that editors and compilers understand: `file:line:column: error D102: message`."""
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.severity} {self.code}: {self.message}"


class DocumentError(Exception):
    """A file cannot be used. `problems` holds everything that is wrong with it, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))

    @classmethod
    def of_file(cls, file: str, code: str, message: str) -> "DocumentError":
        """Make the error that concerns a file as a whole, not one place in it."""
        return cls([Problem(file, 0, 0, "error", code, message)])


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that a person most likely meant, or None if nothing is close."""
    by_folded = {candidate.casefold(): candidate for candidate in candidates}
    found = difflib.get_close_matches(word.casefold(), list(by_folded), n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return `; did you mean "high"?`, or nothing where no candidate is close."""
    found = nearest(word, candidates)
    return f'; did you mean "{found}"?' if found is not None else ""


def listed(words: Sequence[str], most: int = 8) -> str:
    """Return the words joined by commas, cut off after `most` of them, so that a message stays one line."""
    shown = ", ".join(words[:most])
    return f"{shown}, … ({len(words)} in all)" if len(words) > most else shown


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
    """Open a file to be read; one that is missing, unreadable or no regular file raises `DocumentError`."""
    try:
        if path.exists() and not path.is_file():
            raise DocumentError.of_file(str(path), "D002", "cannot be read: it is no regular file")
        return path.open("rb")
    except FileNotFoundError:
        raise DocumentError.of_file(
            str(path), "D001", f"there is no such file{_near_file(path)}; check the path"
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
        bad = f"byte 0x{content[error.start]:02x} is no UTF-8; save the file as UTF-8"
        raise DocumentError([Problem(file, line, column, "error", "D004", bad)]) from None
    nul = text.find("\0")
    if nul >= 0:
        line, column = place_of(text, nul)
        message = "a NUL character stands here; this is no text file"
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
