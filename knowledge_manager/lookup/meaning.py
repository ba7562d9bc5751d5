"""The meaning of a word, and the errors for words that cannot be resolved to one entry."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dens.config.problems import listed
from knowledge_manager.thesaurus.concept import WHOLE, Label, Target
from knowledge_manager.units import convert
from knowledge_manager.vocabulary.event_class import Attribute, EventClass

if TYPE_CHECKING:
    from knowledge_manager.thesaurus.thesaurus import Step


@dataclass(frozen=True, slots=True)
class Meaning:
    """One entry of the mission table that a word may mean.

    `label` is None if the word is the table's own name. `unit` is the unit of the word's owner,
    `attribute.unit` the table's. `misfit` is the reason if the two are not convertible; such a meaning must
    not be used.
    """

    target: Target
    closeness: int
    event: EventClass | None
    attribute: Attribute | None
    label: Label | None = None
    concept: str = ""
    scheme: str = ""
    steps: "tuple[Step, ...]" = ()
    unit: str = ""
    misfit: str = ""

    @property
    def feature(self) -> int | None:
        """Return the attribute's bit in the attribute feature, or the event's bit in the event feature."""
        if self.target.kind == "term" or self.event is None:
            return None
        return 1 << (self.attribute.index if self.attribute is not None else self.event.index)

    def in_table_unit(self, amount: float) -> float:
        """Return an amount in the word owner's unit, converted to the unit of the mission table."""
        if self.attribute is None or not self.unit:
            return amount
        return convert(amount, self.unit, self.attribute.unit)

    def how(self) -> str:
        """Return the path as text: `label "temp" (en-us), exact, narrower`."""
        if self.label is None:
            return "name in the mission table"
        language = f" ({self.label.language})" if self.label.language else ""
        way = "".join(f", {step.relation.name.lower()}" for step in self.steps)
        return f'{self.label.kind} label "{self.label.text}"{language}{way}'

    def in_words(self) -> str:
        """Return the name and the path: `weather.wind_speed (label "vind" (nb), exact, narrower)`."""
        return f"{self.target.name} ({self.how()})"

    def as_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "kind": self.target.kind,
            "name": self.target.name,
            "closeness": self.closeness / WHOLE,
            "how": self.how(),
            "concept": self.concept,
            "scheme": self.scheme,
            "path": [
                {"relation": step.relation.name.lower(), "concept": step.concept} for step in self.steps
            ],
        }
        if self.event is not None:
            document |= {"event": self.event.name, "event_index": self.event.index}
        if self.attribute is not None:
            document |= {
                "attribute": self.attribute.name,
                "attribute_index": self.attribute.index,
                "unit": self.attribute.unit,
            }
            if self.misfit:
                document |= {"word_unit": self.unit, "misfit": self.misfit}
            elif self.unit and self.unit != self.attribute.unit:
                document["word_unit"] = self.unit
                ends = (self.attribute.lo, self.attribute.hi)
                document["domain_in_word_unit"] = [
                    convert(end, self.attribute.unit, self.unit) for end in ends
                ]
        if self.feature is not None:
            document["feature"] = self.feature
        return document


class WordError(LookupError):
    """A word cannot be resolved to one entry of the mission table."""

    def __init__(self, word: str, message: str) -> None:
        super().__init__(message)
        self.word = word


class UnknownWord(WordError):
    """Nothing is close enough. `nearest` are similar words, `weaker` meanings below the required closeness,
    `elsewhere` meanings of another kind or place.
    """

    def __init__(
        self,
        what: str,
        word: str,
        nearest: tuple[str, ...],
        weaker: tuple[Meaning, ...],
        elsewhere: tuple[Meaning, ...],
    ) -> None:
        message = f'{what} "{word}" is unknown'
        if weaker:
            message += f"; not close enough: {listed([meaning.in_words() for meaning in weaker], 4)}"
        elif elsewhere:
            message += f"; elsewhere it is {listed([meaning.in_words() for meaning in elsewhere], 4)}"
        elif nearest:
            quoted = [f'"{near}"' for near in nearest]
            message += f"; did you mean {listed(quoted, 4)}?"
        super().__init__(word, message)
        self.nearest = nearest
        self.weaker = weaker
        self.elsewhere = elsewhere


class UnitMismatch(WordError):
    """The word leads to one attribute, but its owner counts in a unit of another dimension."""

    def __init__(self, what: str, word: str, meaning: Meaning) -> None:
        reason = f'{what} "{word}" resolves to {meaning.in_words()}, but {meaning.misfit}'
        super().__init__(word, f"{reason}; correct dens:unit of {meaning.concept}")
        self.meaning = meaning


class AmbiguousWord(WordError):
    """Several meanings are equally close; see `candidates`."""

    def __init__(self, what: str, word: str, candidates: tuple[Meaning, ...]) -> None:
        names = listed([candidate.in_words() for candidate in candidates])
        super().__init__(word, f'{what} "{word}" may mean {names}; write one of these names')
        self.candidates = candidates
