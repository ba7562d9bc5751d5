"""What predicates ask for, before anything is fitted: one wish for each constrained attribute.

A wish is either exact (three bytes that need no fitting, as crisp predicates have them) or curved (a
fuzzifier with hedges, whose curve is fitted later).
"""

from dataclasses import dataclass

from knowledge_manager.event_class import Attribute
from knowledge_manager.terms import Fuzzifier
from plugins.fuzzy.compiler.spans import Span
from plugins.fuzzy.vectors import Triple

CRISP = 127
"""The slope code of a crisp constraint."""

COMPLEMENT = 128
"""The bit of g that turns a constraint into its opposite."""


@dataclass(frozen=True, slots=True)
class Exact:
    """The three bytes themselves."""

    triple: Triple


@dataclass(frozen=True, slots=True)
class Curved:
    """A fuzzifier, the hedges applied to it in that order, and whether the opposite is meant (`is-not`)."""

    fuzzifier: Fuzzifier
    hedges: tuple[str, ...] = ()
    complement: bool = False


@dataclass(frozen=True, slots=True)
class Wish:
    """One attribute and what is asked of it. `attribute` is None for the event's age, `word` what the author
    calls it.
    """

    index: int
    attribute: Attribute | None
    shape: Exact | Curved
    weight: float
    span: Span
    word: str = ""

    @property
    def name(self) -> str:
        """Return what the attribute is called."""
        return self.attribute.name if self.attribute is not None else "age of the event"
