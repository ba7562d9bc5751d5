"""Patterns in text: `denied; denied; denied @(t3 - t1 < 5min), successful`.

`,` binds before `;` before `and` before `or`. Errors have the position in the document, also behind character
references.
"""

import html
import re
from collections.abc import Callable
from typing import Final

from plugins.authoring.xml.spans import Span
from plugins.composite.authoring.drafts import (
    Draft,
    DraftCondition,
    DraftJoined,
    DraftLeaf,
    DraftPattern,
    bounds_of,
    seconds_of,
)
from plugins.composite.pattern import Operator

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<amount>\d[\d.]*?(?=\.\.)|\d+(?:\.\d+)?\s*(?:min|sec|s|h)?\b|PT?[0-9](?:[0-9A-Z]|\.(?!\.))*\b)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>\.\.|<=|>=|[<>,;()@−-]))"
)
_REFERENCE: Final = re.compile(rb"&[^;\s]{1,12};|<!\[CDATA\[|\]\]>")
_NO_AMOUNT: Final = re.compile(r"\d\w*")
_JOINING: Final = "primitives are joined by , ; and or"
_RESERVED: Final = ("and", "or", "in")
_LEVELS: Final[tuple[tuple[str, Operator], ...]] = (
    ("or", "or"),
    ("and", "and"),
    (";", "then"),
    (",", "next"),
)
_DEEPEST: Final = 64


class BadText(ValueError):
    """A text is not a pattern: why, and which of its characters."""

    def __init__(self, message: str, begin: int, end: int) -> None:
        super().__init__(message)
        self.begin = begin
        self.end = end


def plain_text(raw: bytes) -> tuple[str, list[int]]:
    """Return the characters of a part of a document, and the byte at which each begins, including the end."""
    text: list[str] = []
    places: list[int] = []
    at = 0
    while at < len(raw):
        found = _REFERENCE.match(raw, at)
        if found is not None:
            meant = "" if found[0][:1] != b"&" else html.unescape(found[0].decode("ascii", "replace"))
            text += meant
            places += [at] * len(meant)
            at = found.end()
            continue
        size = 1
        while at + size < len(raw) and raw[at + size] & 0xC0 == 0x80:
            size += 1
        text.append(raw[at : at + size].decode("utf-8", "replace"))
        places.append(at)
        at += size
    return "".join(text), [*places, len(raw)]


def read_text(text: str, span_of: Callable[[int, int], Span]) -> DraftPattern:
    """Return the pattern of a text, or raise `BadText`. `span_of` returns the span of characters."""
    return _Parser(text, span_of).whole()


class _Parser:
    def __init__(self, text: str, span_of: Callable[[int, int], Span]) -> None:
        self._text = text
        self._span_of = span_of
        self._draft = DraftPattern()
        self._leaves = 0
        self._depth = 0
        self._bare: set[int] = set()
        """Sequences that are not in parentheses, by identity."""
        self._at = 0
        self._kind, self._word, self._begin, self._end = "", "", 0, 0
        self._advance()

    def whole(self) -> DraftPattern:
        self._draft.tree = self._joined(0)
        if self._word:
            raise self._error(f'unexpected "{self._word}": {_JOINING}')
        return self._draft

    def _advance(self) -> None:
        rest = self._text[self._at :]
        if not rest.strip():
            self._kind, self._word = "", ""
            self._begin = self._end = len(self._text.rstrip())
            return
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            begin = self._at + len(rest) - len(rest.lstrip())
            if amount := _NO_AMOUNT.match(self._text, begin):
                raise BadText(
                    f'"{amount[0]}" is not a time; write 20s, 5min, 2h or PT90S', begin, amount.end()
                )
            raise BadText(f'unexpected character "{self._text[begin]}"', begin, begin + 1)
        self._kind = str(found.lastgroup)
        self._word = found[self._kind]
        self._begin, self._end = found.start(self._kind), found.end(self._kind)
        self._at = found.end()

    def _error(self, message: str) -> BadText:
        if not self._word:
            end = len(self._text.rstrip())
            return BadText(f"unexpected end of the pattern: {message}", max(end - 1, 0), end)
        return BadText(message, self._begin, self._end)

    def _is_name(self) -> bool:
        return self._kind == "name" and self._word not in _RESERVED

    def _take(self, word: str, what: str) -> None:
        if self._word != word:
            found = f', not "{self._word}"' if self._word else ""
            raise self._error(f'{what} "{word}"{found}')
        self._advance()

    def _joined(self, level: int) -> Draft:
        if level == len(_LEVELS):
            return self._atom()
        sign, operator = _LEVELS[level]
        begin = self._begin
        parts = [self._joined(level + 1)]
        texts = [self._since(begin)]
        while self._word == sign:
            self._advance()
            part = self._begin
            parts.append(self._joined(level + 1))
            texts.append(self._since(part))
        if len(parts) == 1:
            return parts[0]
        span = self._span_of(begin, begin + len(self._since(begin)))
        found = DraftJoined(operator, tuple(parts), span)
        if operator == "then":
            self._bare.add(id(found))
        elif operator == "and" and any(id(part) in self._bare for part in parts):
            read = [
                f"({text})" if id(part) in self._bare else text
                for part, text in zip(parts, texts, strict=True)
            ]
            self._draft.unclear.append((span, " and ".join(read)))
        return found

    def _since(self, begin: int) -> str:
        """Return the text from a position to the current word."""
        return self._text[begin : self._begin].rstrip()

    def _atom(self) -> Draft:
        found: Draft
        if self._word == "(":
            self._depth += 1
            if self._depth > _DEEPEST:
                raise self._error(f"parentheses are nested more than {_DEEPEST} deep")
            self._advance()
            found = self._joined(0)
            self._take(")", "expected")
            self._bare.discard(id(found))
            self._depth -= 1
        elif self._is_name():
            self._leaves += 1
            name, begin, end = self._word, self._begin, self._end
            found = DraftLeaf(name, f"t{self._leaves}", self._span_of(begin, end))
            self._advance()
            if name == "not" and (self._word == "(" or self._is_name()):
                raise BadText(
                    '"not" is not supported: absence cannot be known if messages are late', begin, end
                )
        else:
            found_here = f', not "{self._word}"' if self._word else ""
            raise self._error(f"expected the name of a primitive or a parenthesis{found_here}")
        while self._word == "@":
            self._advance()
            self._take("(", "after @ comes")
            self._condition()
            while self._word == ",":
                self._advance()
                self._condition()
            self._take(")", "a condition ends with")
        return found

    def _condition(self) -> None:
        begin = self._begin
        second = self._name()
        if self._word not in ("-", "−"):
            raise self._error("expected a difference of two uses, such as t3 - t1 < 5min")
        self._advance()
        first = self._name()
        sign = self._word
        low: int | None
        high: int | None
        if sign == "in":
            self._advance()
            low, _ = bounds_of(">=", self._amount())
            self._take("..", "expected")
            _, high = bounds_of("<=", self._amount())
        elif sign in ("<", "<=", ">", ">="):
            self._advance()
            low, high = bounds_of(sign, self._amount())
        else:
            raise self._error("expected <, <=, >, >= or in 10s..20s after a difference")
        end = len(self._text[: self._begin].rstrip())
        self._draft.conditions.append(DraftCondition(first, second, low, high, self._span_of(begin, end)))

    def _name(self) -> str:
        if self._kind != "name" or self._word in _RESERVED:
            raise self._error("expected a use name (t1, t2, …)")
        name = self._word
        self._advance()
        return name

    def _amount(self) -> float:
        seconds = seconds_of(self._word) if self._kind in ("amount", "name") else None
        if seconds is None:
            raise self._error("expected a time: 5min, 300s, 2h or PT5M")
        self._advance()
        return seconds
