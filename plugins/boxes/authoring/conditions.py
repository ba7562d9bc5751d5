"""Conditions: and, or, not around byte ranges, and their boxes.

Every predicate is a set of bytes, as rising runs that do not touch. `not` is pushed down to the predicates,
where it becomes the other bytes of the attribute; a missing value satisfies neither.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from knowledge_manager.vocabulary.event_class import Attribute
from plugins.authoring.xml.spans import Span
from plugins.boxes.simplify import intersection, outermost
from plugins.boxes.vectors import Box
from plugins.byte_readings import Range, byte_of, readings_of

Runs = tuple[Range, ...]
"""Rising ranges of bytes that do not touch."""

MOST_ALTERNATIVES: Final = 512
"""Boxes during expansion; a condition with more cannot end with at most 64."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """An attribute has one of these bytes. `others` are the bytes of its negation."""

    attribute: int
    runs: Runs
    others: Runs
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Joined:
    """All of them (`and`), or at least one (`or`)."""

    connective: str
    parts: "tuple[Condition, ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class Not:
    part: "Condition"


Condition = Predicate | Joined | Not


class TooManyBoxes(Exception):
    """A condition has too many alternatives."""


def boxes_of(condition: Condition, *, negated: bool = False) -> list[Box]:
    """Return the boxes of a condition, none inside another. Too many raise `TooManyBoxes`."""
    match condition:
        case Predicate():
            runs = condition.others if negated else condition.runs
            return [((condition.attribute, low, high),) for low, high in runs]
        case Not(part):
            return boxes_of(part, negated=not negated)
        case Joined(connective, parts, _):
            if (connective == "or") != negated:
                found = outermost(box for part in parts for box in boxes_of(part, negated=negated))
            else:
                found = boxes_of(parts[0], negated=negated)
                for part in parts[1:]:
                    found = _product(found, boxes_of(part, negated=negated))
            if len(found) > MOST_ALTERNATIVES:
                raise TooManyBoxes
            return found


def _product(one: list[Box], other: list[Box]) -> list[Box]:
    if len(one) * len(other) > MOST_ALTERNATIVES**2:
        raise TooManyBoxes
    pairs = (intersection(first, second) for first in one for second in other)
    found = outermost(box for box in pairs if box is not None)
    if len(found) > MOST_ALTERNATIVES:
        raise TooManyBoxes
    return found


def multiplies_most(condition: Condition) -> Predicate | Joined:
    """Return what causes most alternatives: the predicate with the most runs, or the connective with the most
    parts if that is more.
    """
    best: Predicate | Joined | None = None
    most = 0
    waiting: list[tuple[Condition, bool]] = [(condition, False)]
    while waiting:
        one, negated = waiting.pop(0)
        match one:
            case Predicate():
                count = len(one.others if negated else one.runs)
            case Not(part):
                waiting.append((part, not negated))
                continue
            case Joined(connective, parts, _):
                count = len(parts) if (connective == "or") != negated else 1
                waiting += [(part, negated) for part in parts]
        is_plainer = isinstance(one, Predicate) and not isinstance(best, Predicate)
        if best is None or count > most or (count == most and is_plainer):
            best, most = one, count
    assert best is not None, "a condition has at least one predicate"
    return best


def runs_of(readings: tuple[Range, ...], attribute: Attribute) -> Runs:
    """Return the bytes of readings, outward: a byte is included if one of its readings is."""
    joined: list[Range] = []
    for first, last in readings:
        low, high = byte_of(first, attribute), byte_of(last, attribute)
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


def other_runs(runs: Runs, attribute: Attribute) -> Runs:
    """Return the bytes of all other readings. If a byte has none, its neighbour ends the run."""
    last = len(attribute.values) - 1 if attribute.type == "nominal" else 255
    edges = [-1, *(edge for low, high in runs for edge in (low, high)), last + 1]
    gaps = [(edges[i] + 1, edges[i + 1] - 1) for i in range(0, len(edges), 2)]
    found = []
    for low, high in gaps:
        if low <= high:
            found += [
                (byte_of(first, attribute), byte_of(final, attribute))
                for first, final in readings_of(low, high, attribute)
            ]
    return tuple(found)


def holds(condition: Condition, values: Mapping[int, int], *, negated: bool = False) -> bool:
    """Return whether a condition holds for the bytes of an event: the definition of `boxes_of`."""
    match condition:
        case Predicate():
            runs = condition.others if negated else condition.runs
            byte = values.get(condition.attribute)
            return byte is not None and any(low <= byte <= high for low, high in runs)
        case Not(part):
            return holds(part, values, negated=not negated)
        case Joined(connective, parts, _):
            some = (holds(part, values, negated=negated) for part in parts)
            return any(some) if (connective == "or") != negated else all(some)
