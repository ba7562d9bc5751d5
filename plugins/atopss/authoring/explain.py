"""Explains why a subscription matches or not: both degrees of every predicate, and their combination."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import EventClass, UnknownName
from plugins.atopss.authoring.describe import describe_vector
from plugins.atopss.authoring.picture import Panel, panel_lines
from plugins.atopss.authoring.value_shapes import value_shape
from plugins.atopss.authoring.words import predicate_words, shape_words, threshold_words
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.shapes.degrees import Degrees, judged
from plugins.atopss.shapes.scale import LEAST, THIRTIETH, TOP, byte_of
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Predicate, Subscription
from plugins.authoring.output.description import Description
from watchdog.header import body_of
from watchdog.vector import VectorError


@dataclass(frozen=True, slots=True)
class Clause:
    """One predicate, the value of its attribute, and its degrees; both None without a value."""

    attribute: str
    words: str
    value: str | None
    degrees: Degrees | None
    failure: str
    """Why the predicate is not satisfied; empty if it is."""
    panel: Panel

    def lines(self) -> list[str]:
        if self.degrees is None:
            return [f"{self.attribute} is {self.words}: no value, so it is not satisfied"]
        possible, necessary = self.degrees
        meeting = f"Π {byte_of(possible)}: the predicate and the value overlap to {possible / TOP:.3f}"
        leaving = f"N {byte_of(necessary)}: the value lies in the predicate to {necessary / TOP:.3f}"
        return [
            f"{self.attribute} is {self.words}; the value is {self.value}",
            *panel_lines(self.panel),
            f"  {meeting}",
            f"  {leaving}",
            *([f"  {self.failure}, so it counts as (0, 0)"] if self.failure else []),
        ]

    def as_document(self) -> dict[str, Any]:
        possible, necessary = (None, None) if self.degrees is None else map(byte_of, self.degrees)
        return {
            "attribute": self.attribute,
            "words": self.words,
            "value": self.value,
            "possibility_u8": possible,
            "necessity_u8": necessary,
            "is_reached": not self.failure,
            "failed": self.failure or None,
        }


@dataclass(frozen=True, slots=True)
class ApproximateExplanation:
    """A subscription, and the result for values if there are any."""

    description: Description
    clauses: tuple[Clause, ...]
    wanted: Subscription
    joined: Degrees | None

    @property
    def matches(self) -> bool | None:
        """Return whether it matches; None without values."""
        return None if self.joined is None else not self._failed()

    def lines(self) -> list[str]:
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
            f"Π {byte_of(possible)} ({possible / TOP:.3f}), N {byte_of(necessary)} ({necessary / TOP:.3f}): "
            f"{verdict}",
        ]

    def as_document(self) -> dict[str, Any]:
        possible, necessary = (None, None) if self.joined is None else map(byte_of, self.joined)
        return {
            **self.description.as_document(),
            "clauses": [clause.as_document() for clause in self.clauses],
            "possibility_u8": possible,
            "necessity_u8": necessary,
            "matches": self.matches,
            "failed": self._failed() if self.joined is not None else None,
        }

    def _failed(self) -> str:
        """Return the predicates and thresholds that failed; empty if the subscription matches."""
        assert self.joined is not None
        if self.wanted.verdict_of(self.joined) is not None:
            return ""
        reasons = [clause.failure for clause in self.clauses if clause.failure]
        if self.joined[0] >= LEAST:
            reasons.insert(
                0, _below("the whole", self.joined, self.wanted.possibility, self.wanted.necessity)
            )
        return "; ".join(reasons) or "it is impossible"


def _below(name: str, degrees: Degrees, possibility: int, necessity: int) -> str:
    """Return which degree is below which threshold; empty if none is."""
    for symbol, degree, threshold in zip("ΠN", degrees, (possibility, necessity), strict=True):
        if degree < THIRTIETH * threshold:
            return f"{name}: {symbol} {degree / TOP:.3f} is below its threshold {threshold_words(threshold)}"
    return f"{name} is impossible" if degrees[0] < LEAST else ""


def explain_values(
    vector: bytes, table: MissionTable, values: Mapping[str, str], age_s: int
) -> ApproximateExplanation:
    """Explain the result for values, each given as text. An unknown attribute raises `UnknownName`, an
    unreadable value `BadConstant`, bytes that are not a subscription `VectorError`.
    """
    codec = AtopssCodec(table)
    wanted = codec.subscription(body_of(vector))
    event = table.event_at(wanted.event)
    known = {attribute.name: attribute for attribute in event.attributes}
    published: dict[int, Shape] = {}
    for name, text in values.items():
        if name not in known:
            raise UnknownName("attribute", name, list(known), event.name)
        published[known[name].index] = value_shape(text, known[name], known[name].unit)
    return _explained(vector, codec, wanted, event, published if values else None)


def explain_notification(vector: bytes, table: MissionTable, notification: bytes) -> ApproximateExplanation:
    """Explain the result for a notification. Invalid vectors raise `VectorError`."""
    codec = AtopssCodec(table)
    wanted, reading = codec.subscription(body_of(vector)), codec.written_notification(notification)
    event = table.event_at(wanted.event)
    if reading.event != wanted.event:
        other = table.event_at(reading.event).name
        raise VectorError(6, f"this is a {other} event, but the subscription is to {event.name}")
    return _explained(vector, codec, wanted, event, reading.values)


def _explained(
    vector: bytes,
    codec: AtopssCodec,
    wanted: Subscription,
    event: EventClass,
    published: dict[int, Shape] | None,
) -> ApproximateExplanation:
    values = {} if published is None else published
    known = codec.known(event.index, values)
    clauses = tuple(
        _clause(one, event, values.get(one.attribute), known.get(one.attribute)) for one in wanted.predicates
    )
    joined = None
    if published is not None:
        joined = wanted.joined([one.degrees(known.get(one.attribute)) for one in wanted.predicates])
    return ApproximateExplanation(describe_vector(vector, codec.table, "sv"), clauses, wanted, joined)


def _clause(predicate: Predicate, event: EventClass, value: Shape | None, known: Shape | None) -> Clause:
    """Return one predicate, the value of its attribute as written, and within the domain."""
    attribute = event.attribute_at(predicate.attribute)
    panel = Panel.of(attribute.name, predicate, value, attribute)
    words = predicate_words(predicate, attribute)
    if value is None or known is None:
        return Clause(attribute.name, words, None, None, f"{attribute.name} is unknown", panel)
    degrees = judged(predicate.shape, known, complement=predicate.complement)
    failure = _below(attribute.name, degrees, predicate.possibility, predicate.necessity)
    return Clause(attribute.name, words, shape_words(value, attribute), degrees, failure, panel)
