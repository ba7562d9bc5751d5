"""Why a subscription matches or does not: both degrees of every predicate, and what they come to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knowledge_manager.event_class import EventClass, UnknownName
from knowledge_manager.mission_table import MissionTable
from plugins.atopss.authoring.describe import describe_vector
from plugins.atopss.authoring.picture import Panel, panel_lines
from plugins.atopss.authoring.value_shapes import value_shape
from plugins.atopss.authoring.words import predicate_words, shape_words
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.degrees import Degrees, judged
from plugins.atopss.scale import FIFTEENTH, TOP
from plugins.atopss.shapes import Shape
from plugins.atopss.subscriptions import Predicate, Subscription
from plugins.authoring.description import Description
from watchdog.header import body_of
from watchdog.vector import VectorError


@dataclass(frozen=True, slots=True)
class Clause:
    """One predicate, what was told of its attribute, and its degrees; both None where nothing was told."""

    attribute: str
    words: str
    value: str | None
    degrees: Degrees | None
    is_reached: bool
    panel: Panel

    def lines(self) -> list[str]:
        """Return it for a terminal."""
        if self.degrees is None:
            return [f"{self.attribute} is {self.words}: nothing is told of it, so it is not reached"]
        possible, necessary = self.degrees
        meeting = f"Π {possible}: what is wanted and what is known meet at {possible / TOP:.3f}"
        leaving = f"N {necessary}: what may be otherwise is still wanted to {necessary / TOP:.3f}"
        lacking = "" if self.is_reached else "; below its thresholds, so it counts as (0, 0)"
        return [
            f"{self.attribute} is {self.words}; known is {self.value}",
            *panel_lines(self.panel),
            f"  {meeting}",
            f"  {leaving}{lacking}",
        ]

    def as_document(self) -> dict[str, Any]:
        """Return it as plain data."""
        possible, necessary = self.degrees or (None, None)
        return {
            "attribute": self.attribute,
            "words": self.words,
            "value": self.value,
            "possibility_u8": possible,
            "necessity_u8": necessary,
            "is_reached": self.is_reached,
        }


@dataclass(frozen=True, slots=True)
class ApproximateExplanation:
    """What a subscription asks, and, where values were given, what becomes of them."""

    description: Description
    clauses: tuple[Clause, ...]
    wanted: Subscription
    joined: Degrees | None

    @property
    def matches(self) -> bool | None:
        """Say whether it matches; None where no values were given."""
        return None if self.joined is None else not self._failed()

    def lines(self) -> list[str]:
        """Return it for a terminal."""
        if self.joined is None:
            return self.description.lines()
        inner = [line for clause in self.clauses for line in clause.lines()]
        possible, necessary = self.joined
        failed = self._failed()
        verdict = "it matches" if not failed else f"it does not match: {failed}"
        return [
            *self.description.lines(),
            "",
            *inner,
            "",
            f"Π {possible} ({possible / TOP:.3f}), N {necessary} ({necessary / TOP:.3f}): {verdict}",
        ]

    def as_document(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        possible, necessary = self.joined or (None, None)
        return {
            **self.description.as_document(),
            "clauses": [clause.as_document() for clause in self.clauses],
            "possibility_u8": possible,
            "necessity_u8": necessary,
            "matches": self.matches,
            "failed": self._failed() if self.joined is not None else None,
        }

    def _failed(self) -> str:
        """Return the threshold that failed, or nothing where none did."""
        assert self.joined is not None
        possible, necessary = self.joined
        least = max(FIFTEENTH * self.wanted.possibility, 1)
        if possible < least:
            return f"Π is below {least}" if self.wanted.possibility else "it is not possible"
        if necessary < FIFTEENTH * self.wanted.necessity:
            return f"N is below {FIFTEENTH * self.wanted.necessity}"
        return ""


def explain_values(
    vector: bytes, table: MissionTable, values: Mapping[str, str], age_s: int
) -> ApproximateExplanation:
    """Return what becomes of values, each given as texts tell it. One for an attribute that there is not
    raises `UnknownName`, one that is unreadable `BadConstant`, bytes that are no subscription `VectorError`.
    """
    wanted = AtopssCodec(table).subscription(body_of(vector))
    event = table.event_at(wanted.event)
    known = {attribute.name: attribute for attribute in event.attributes}
    told: dict[int, Shape] = {}
    for name, text in values.items():
        if name not in known:
            raise UnknownName("attribute", name, list(known), event.name)
        told[known[name].index] = value_shape(text, known[name], known[name].unit)
    return _explained(vector, table, wanted, event, told if values else None)


def explain_notification(vector: bytes, table: MissionTable, notification: bytes) -> ApproximateExplanation:
    """Return what becomes of a notification; bytes that are no vectors raise `VectorError`."""
    codec = AtopssCodec(table)
    wanted, told = codec.subscription(body_of(vector)), codec.notification(notification)
    event = table.event_at(wanted.event)
    if told.event != wanted.event:
        other = table.event_at(told.event).name
        raise VectorError(6, f"this tells of {other}, the subscription asks for {event.name}")
    return _explained(vector, table, wanted, event, told.values)


def _explained(
    vector: bytes,
    table: MissionTable,
    wanted: Subscription,
    event: EventClass,
    told: dict[int, Shape] | None,
) -> ApproximateExplanation:
    values = {} if told is None else told
    clauses = tuple(_clause(one, event, values.get(one.attribute)) for one in wanted.predicates)
    joined = None
    if told is not None:
        joined = wanted.joined([one.degrees(values.get(one.attribute)) for one in wanted.predicates])
    return ApproximateExplanation(describe_vector(vector, table, "sv"), clauses, wanted, joined)


def _clause(predicate: Predicate, event: EventClass, value: Shape | None) -> Clause:
    attribute = event.attribute_at(predicate.attribute)
    panel = Panel.of(attribute.name, predicate, value, attribute)
    words = predicate_words(predicate, attribute)
    if value is None:
        return Clause(attribute.name, words, None, None, is_reached=False, panel=panel)
    degrees = judged(predicate.shape, value, complement=predicate.complement)
    return Clause(
        attribute.name,
        words,
        shape_words(value, attribute),
        degrees,
        is_reached=predicate.reached(*degrees) != (0, 0),
        panel=panel,
    )
