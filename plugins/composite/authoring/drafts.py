"""A pattern as written, in elements or text, with positions."""

import math
import re
from dataclasses import dataclass, field
from typing import Final

from knowledge_manager.durations import duration_s
from plugins.authoring.xml.spans import Span
from plugins.composite.pattern import Operator

_AMOUNT: Final = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(s|sec|min|h)?")
_UNITS: Final = {"s": 1, "sec": 1, "min": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class DraftLeaf:
    """One use of a primitive, with its name in the document or t1, t2, …"""

    primitive: str
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class DraftJoined:
    """Drafts under one operator."""

    operator: Operator
    parts: "tuple[Draft, ...]"
    span: Span


Draft = DraftLeaf | DraftJoined


@dataclass(frozen=True, slots=True)
class DraftCondition:
    """The time from one use to another, in whole seconds; None means unbounded."""

    first: str
    second: str
    low: int | None
    high: int | None
    span: Span


@dataclass(slots=True)
class DraftPattern:
    """A pattern as written."""

    tree: Draft | None = None
    conditions: list[DraftCondition] = field(default_factory=list)
    unclear: list[tuple[Span, str]] = field(default_factory=list)
    """Where `;` and `and` meet without parentheses, and how it is read."""


def seconds_of(text: str) -> float | None:
    """Return the seconds of a duration (5min, 300s, 300, 2h, PT5M), or None."""
    text = text.strip()
    found = _AMOUNT.fullmatch(text)
    if found is not None:
        return float(found[1]) * _UNITS[found[2] or "s"]
    return duration_s(text)


def bounds_of(sign: str, seconds: float) -> tuple[int | None, int | None]:
    """Return the whole seconds that a comparison leaves: the least and the greatest, None where there is
    none.

    >>> bounds_of("<", 300), bounds_of(">=", 1.5)
    ((None, 299), (2, None))
    """
    if sign == "<":
        return None, math.ceil(seconds) - 1
    if sign == "<=":
        return None, math.floor(seconds)
    if sign == ">":
        return math.floor(seconds) + 1, None
    return math.ceil(seconds), None
