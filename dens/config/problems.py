"""Diagnostics of files: place, stable code and advice.

Every reader of a file written by people (vocabulary, subscription, scenario) collects `Problem`s and raises
them as one `DocumentError`. Each code has a page under docs/errors/. Blocks: D0xx files and syntax, D1xx and
D72x subscriptions, D2xx vocabularies, D3xx scenarios, D4xx vectors.
"""

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

Severity = Literal["error", "warning", "note"]
"""An error refuses the file; a warning does so only with `--strict`; a note informs."""


_DECIMAL_COMMA: Final = re.compile(r"\s*[+-]?\d*,\d+\s*")


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A piece of a text, the end not included. Lines and columns count from 1, columns in characters."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Fix:
    """A replacement of a text span that certainly removes the problem, though perhaps not as intended."""

    title: str
    replacement: str
    span: TextSpan


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A problem at one place of a file. Lines and columns count from 1; 0 means the whole file.

    `span` is the text concerned, if its end is known; it begins at that place. Span and fixes are not
    compared.
    """

    file: str
    line: int
    column: int
    severity: Severity
    code: str
    message: str
    span: TextSpan | None = field(default=None, compare=False)
    fixes: tuple[Fix, ...] = field(default=(), compare=False)

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


def likely_meant(word: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """Return the candidate that `did_you_mean` speaks of, as what may be written instead; nothing where none
    is close.
    """
    found = nearest(word, candidates)
    return () if found is None else (found,)


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return `; did you mean "high"?`, or nothing where no candidate is close."""
    found = nearest(word, candidates)
    return f'; did you mean "{found}"?' if found is not None else ""


def decimal_point_hint(text: str) -> str:
    """Return a hint to use a decimal point if a number has a decimal comma; else an empty text."""
    if _DECIMAL_COMMA.fullmatch(text) is None:
        return ""
    return f"; use a decimal point ({text.strip().replace(',', '.')})"


def listed(words: Sequence[str], most: int = 8) -> str:
    """Return the words joined by commas, cut off after `most` of them, so that a message stays one line."""
    shown = ", ".join(words[:most])
    return f"{shown}, … ({len(words)} in all)" if len(words) > most else shown
