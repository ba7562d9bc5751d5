"""Reads untrusted JSON: depth and number of values are limited before it is parsed."""

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
"""A string, or the rest of the text if its end is missing. Possessive, so every quote is visited once."""
_NO_BRACKET: Final = bytes(set(range(256)) - set(b"[]{}"))


def parse_json(content: bytes, file: str, code: str, most_values: int = MOST_VALUES) -> Any:
    """Return a parsed JSON document; invalid or too large ones raise `DocumentError` with the code."""
    _refuse_absurd(content, file, code, most_values)
    text = decode_text(content, file)
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise DocumentError(
            [Problem(file, error.lineno, error.colno, "error", code, f"invalid JSON: {error.msg}")]
        ) from None
    except ValueError as error:  # a number of thousands of digits, or none at all
        raise DocumentError.of_file(file, code, f"contains an invalid number: {error}") from None


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
    raise ValueError(f"{word} is not a JSON number")
