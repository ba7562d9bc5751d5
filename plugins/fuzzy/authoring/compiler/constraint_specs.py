"""What predicates ask for, before anything is fitted: one spec for each constrained attribute.

A spec is either exact (three bytes that need no fitting), a set of readings, as crisp predicates have them
(which becomes the least interval of bytes that misses none of them), or curved (a fuzzifier with hedges,
whose curve is fitted later).
"""

from dataclasses import dataclass

from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.terms import Fuzzifier
from plugins.authoring.xml.spans import Span
from plugins.byte_readings import Range
from plugins.fuzzy.vectors import Triple

CRISP = 127
"""The slope code of a crisp constraint."""

COMPLEMENT = 128
"""The bit of g that turns a constraint into its opposite."""


@dataclass(frozen=True, slots=True)
class Exact:
    """The three bytes themselves. `told` is what they really say, in words, where that is more than was
    asked.
    """

    triple: Triple
    told: str = ""


@dataclass(frozen=True, slots=True)
class Crisp:
    """The exact readings that are wanted, as rising ranges that do not touch, and what the author wrote.

    `unit` is the one the author counts in.
    """

    wanted: tuple[Range, ...]
    written: str
    unit: str


@dataclass(frozen=True, slots=True)
class Curved:
    """A fuzzifier, the hedges applied to it in that order, and whether the opposite is meant (`is-not`).

    `unit` is the one the author counts in.
    """

    fuzzifier: Fuzzifier
    hedges: tuple[str, ...] = ()
    complement: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class ConstraintSpec:
    """One attribute and what is asked of it. `attribute` is None for the event's age, `word` what the author
    calls it.

    `is_negated` tells that a pattern asks for its opposite: there a crisp set must hold for too few readings
    rather than too many, so that the pattern holds for too many.
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
        """Return what the attribute is called."""
        return self.attribute.name if self.attribute is not None else "age of the event"
