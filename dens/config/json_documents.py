"""JSON that may come from anybody: its depth and its number of values are looked at before it is read."""

import json
import re
from typing import Any, Final, NoReturn

from dens.config.problems import DocumentError, Problem
from dens.config.reading import decode_text

LARGEST_JSON: Final = 32 * 1024 * 1024
"""Bytes of a document about a run; it carries vocabularies and subscriptions, of 64 kB at most each."""
DEEPEST: Final = 64
"""Tables within tables."""
MOST_VALUES: Final = 1_000_000
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\(?:.|\Z))*+(?:"|\Z)', re.DOTALL)
"""A string, or the rest of the text where its end is missing: every quote is looked at once."""
_NO_BRACKET: Final = bytes(set(range(256)) - set(b"[]{}"))


def parse_json(content: bytes, file: str, code: str, most_values: int = MOST_VALUES) -> Any:
    """Return what a JSON document says; what is none, or too much, raises `DocumentError` with the code."""
    _refuse_absurd(content, file, code, most_values)
    text = decode_text(content, file)
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise DocumentError(
            [Problem(file, error.lineno, error.colno, "error", code, f"this is no JSON: {error.msg}")]
        ) from None
    except ValueError as error:  # a number of thousands of digits, or none at all
        raise DocumentError.of_file(file, code, f"holds a number that is none: {error}") from None


def _refuse_absurd(content: bytes, file: str, code: str, most_values: int) -> None:
    """Refuse what would take far more memory or stack than it has bytes."""
    outside = _STRING.sub(b"", content)
    brackets = outside.translate(None, _NO_BRACKET)
    if outside.count(b",") + len(brackets) // 2 > most_values:
        raise DocumentError.of_file(
            file, code, f"holds more than {most_values:,} values, the most that is read"
        )
    for _ in range(DEEPEST):
        if not brackets:
            return
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    if len(brackets) > DEEPEST:
        raise DocumentError.of_file(
            file, code, f"nests more than {DEEPEST} tables and lists, the most that is read"
        )


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")
