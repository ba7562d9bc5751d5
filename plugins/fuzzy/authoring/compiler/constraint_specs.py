"""Specifications of predicates before fitting: one per constrained attribute.

A spec is exact (three bytes that need no fitting), a set of readings from a crisp predicate (which becomes
the smallest byte interval that contains them), or curved (a fuzzifier with hedges, fitted later).
"""

from dataclasses import dataclass

from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.terms import Fuzzifier
from plugins.authoring.xml.spans import Span
from plugins.board_vectors import Triple
from plugins.byte_readings import Range

CRISP = 127
"""The slope code of a crisp constraint."""

COMPLEMENT = 128
"""The bit of g that complements a constraint."""


@dataclass(frozen=True, slots=True)
class Exact:
    """The three bytes. `meaning` is their effective meaning as text, if it is more than requested."""

    triple: Triple
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Crisp:
    """The requested exact readings, as rising ranges that do not touch, and the text of the document.

    `unit` is that of the document.
    """

    wanted: tuple[Range, ...]
    written: str
    unit: str


@dataclass(frozen=True, slots=True)
class Curved:
    """A fuzzifier, its hedges in order of application, and whether it is negated (`is-not`).

    `unit` is that of the document.
    """

    fuzzifier: Fuzzifier
    hedges: tuple[str, ...] = ()
    complement: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class ConstraintSpec:
    """One attribute and its constraint. `attribute` is None for the event's age, `word` its name in the
    document.

    `is_negated` is set inside a `not` of a pattern: there a crisp set must contain too few readings rather
    than too many, so that the pattern matches too many.
    """

    index: int
    attribute: Attribute | None
    shape: Exact | Crisp | Curved
    weight: float
    span: Span
    word: str = ""
    is_negated: bool = False

    @property
    def name(self) -> str:
        return self.attribute.name if self.attribute is not None else "age of the event"
