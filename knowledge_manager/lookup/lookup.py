"""Resolves a word to entries of the mission table, with the path that leads there.

The exact name in the mission table always wins, so that no thesaurus can change what a written subscription
means. Otherwise names and labels that differ only in case, blanks and underscores count fully, and the
thesaurus leads on from there. `look_up` lists every meaning for a person; the `resolve_…` functions return
the one meaning that a compiler may take, or raise an error with the reason.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from knowledge_manager.lookup.meaning import AmbiguousWord, Meaning, UnitMismatch, UnknownWord, WordError
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.concept import WHOLE, Target, TargetKind, fold
from knowledge_manager.units import UnitError, convert
from knowledge_manager.vocabulary.event_class import Attribute, EventClass, UnknownName

if TYPE_CHECKING:
    from knowledge_manager.thesaurus.thesaurus import Finding, Thesaurus

__all__ = [
    "AmbiguousWord",
    "LookUpResult",
    "Meaning",
    "ResolvedAttribute",
    "UnitMismatch",
    "UnknownWord",
    "WordError",
    "look_up",
    "nearest_terms",
    "resolve_attribute",
    "resolve_event",
    "resolve_term",
    "resolve_value",
    "words_for",
]

LEAST_RESOLVED: Final = 600
"""Minimum closeness for a compiler: exact, close, and up to two steps to a narrower concept."""


@dataclass(frozen=True, slots=True)
class LookUpResult:
    """The result of `dens lookup`: every meaning, closest first, or similar words."""

    word: str
    language: str | None
    meanings: tuple[Meaning, ...]
    nearest: tuple[str, ...]

    def as_document(self) -> dict[str, Any]:
        return {
            "word": self.word,
            "language": self.language,
            "meanings": [meaning.as_document() for meaning in self.meanings],
            "nearest": list(self.nearest),
        }


@dataclass(frozen=True, slots=True)
class ResolvedAttribute:
    """The attribute that a word means, and the unit in which the word's owner counts."""

    attribute: Attribute
    unit: str
    meaning: Meaning


def look_up(
    word: str, table: MissionTable, thesaurus: "Thesaurus | None" = None, language: str | None = None
) -> LookUpResult:
    """Return everything that the word may mean in this mission table."""
    meanings = _meanings(word, table, thesaurus, language)
    near = () if meanings else nearest_terms(word, table, thesaurus, language)
    return LookUpResult(word, language, meanings, near)


def nearest_terms(
    word: str,
    table: MissionTable,
    thesaurus: "Thesaurus | None" = None,
    language: str | None = None,
    most: int = 5,
) -> tuple[str, ...]:
    """Return names and labels that were probably meant, nearest first."""
    from knowledge_manager.thesaurus.spelling import nearest_words

    names = {fold(target.name.rpartition(".")[2]): target.name.rpartition(".")[2] for target in _named(table)}
    found = [names[near] for near in nearest_words(fold(word), names, most)]
    if thesaurus is not None:
        found += thesaurus.nearest(word, language, most)
    unique = {fold(text): text for text in reversed(found) if fold(text) != fold(word)}
    return tuple(unique[near] for near in nearest_words(fold(word), unique, most))


def resolve_event(
    word: str, table: MissionTable, thesaurus: "Thesaurus | None" = None, language: str | None = None
) -> Meaning:
    """Return the meaning whose `event` is the event class that the word names, or raise `WordError`."""
    try:
        return Meaning(Target("event", word), WHOLE, table.event(word), None)
    except UnknownName:
        return _chosen("event class", word, "event", "", table, thesaurus, language)


def resolve_attribute(
    word: str,
    event: EventClass,
    table: MissionTable,
    thesaurus: "Thesaurus | None" = None,
    language: str | None = None,
) -> ResolvedAttribute:
    """Return the attribute of the event class that the word means, or raise `WordError`."""
    try:
        named = event.attribute(word)
    except UnknownName:
        what = f"attribute of {event.name}"
        chosen = _chosen(what, word, "attribute", f"{event.name}.", table, thesaurus, language)
    else:
        target = Target("attribute", f"{event.name}.{word}")
        return ResolvedAttribute(named, named.unit, Meaning(target, WHOLE, event, named))
    attribute = event.attribute(chosen.target.attribute)
    return ResolvedAttribute(attribute, chosen.unit or attribute.unit, chosen)


def resolve_term(
    word: str,
    event: EventClass,
    attribute: Attribute,
    table: MissionTable,
    thesaurus: "Thesaurus | None" = None,
    language: str | None = None,
) -> Meaning:
    """Return the meaning whose `target.name` is the attribute's term, or raise `WordError`."""
    if word in attribute.terms:
        return Meaning(Target("term", word), WHOLE, None, None)
    what = f"term of {event.name}.{attribute.name}"
    return _chosen(what, word, "term", "", table, thesaurus, language, attribute.terms)


def resolve_value(
    word: str,
    event: EventClass,
    attribute: Attribute,
    table: MissionTable,
    thesaurus: "Thesaurus | None" = None,
    language: str | None = None,
) -> Meaning:
    """Return the meaning whose `target.value` is the nominal attribute's value, or raise `WordError`."""
    prefix = f"{event.name}.{attribute.name}="
    if word in attribute.values:
        return Meaning(Target("value", f"{prefix}{word}"), WHOLE, event, attribute)
    what = f"value of {event.name}.{attribute.name}"
    return _chosen(what, word, "value", prefix, table, thesaurus, language)


def _chosen(
    what: str,
    word: str,
    kind: TargetKind,
    prefix: str,
    table: MissionTable,
    thesaurus: "Thesaurus | None",
    language: str | None,
    names: Iterable[str] | None = None,
) -> Meaning:
    """Return the single closest meaning of this kind whose name starts with the prefix."""
    meanings = _meanings(word, table, thesaurus, language)
    here = [
        meaning
        for meaning in meanings
        if meaning.target.kind == kind
        and meaning.target.name.startswith(prefix)
        and (names is None or meaning.target.name in names)
    ]
    close = [meaning for meaning in here if meaning.closeness >= LEAST_RESOLVED]
    if not close:
        elsewhere = tuple(meaning for meaning in meanings if meaning not in here)
        near = () if meanings else nearest_terms(word, table, thesaurus, language)
        raise UnknownWord(what, word, near, tuple(here), elsewhere)
    best = tuple(meaning for meaning in close if _nearness(meaning) == _nearness(close[0]))
    if len(best) > 1:
        raise AmbiguousWord(what, word, best)
    if best[0].misfit:
        raise UnitMismatch(what, word, best[0])
    return best[0]


def _meanings(
    word: str, table: MissionTable, thesaurus: "Thesaurus | None", language: str | None
) -> tuple[Meaning, ...]:
    """Return the meanings by descending closeness, each target once, the table's own names first."""
    folded = fold(word)
    found: dict[Target, Meaning] = {}
    for target in _named(table):
        if folded in (fold(target.name), fold(target.value or target.attribute or target.name)):
            found[target] = _meaning(target, table)
    if thesaurus is not None:
        known = set(_named(table))
        for finding in thesaurus.find(word, language):
            target = finding.target
            if target in known and target not in found:
                found[target] = _meaning(target, table, finding)
    return tuple(sorted(found.values(), key=_order))


def _nearness(meaning: Meaning) -> tuple[int, int]:
    """Return the sort key of meanings: closeness, then fewer steps.

    So a superfluous link does not make other words ambiguous.
    """
    return -meaning.closeness, len(meaning.steps)


def _order(meaning: Meaning) -> tuple[int, int, bool, str, str]:
    return *_nearness(meaning), meaning.label is not None, meaning.target.kind, meaning.target.name


def _named(table: MissionTable) -> Iterator[Target]:
    """Yield everything in the mission table that has a name."""
    terms: dict[str, None] = {}
    for event in table.events:
        yield Target("event", event.name)
        for attribute in event.attributes:
            yield Target("attribute", f"{event.name}.{attribute.name}")
            for value in attribute.values:
                yield Target("value", f"{event.name}.{attribute.name}={value}")
            terms |= dict.fromkeys(attribute.terms)
    for term in terms:
        yield Target("term", term)


def _meaning(target: Target, table: MissionTable, finding: "Finding | None" = None) -> Meaning:
    """Return the meaning with its event class and attribute, and whether its owner's unit is convertible."""
    event = table.event(target.event) if target.event else None
    attribute = event.attribute(target.attribute) if event is not None and target.attribute else None
    if finding is None:
        return Meaning(target, WHOLE, event, attribute)
    return Meaning(
        target,
        finding.closeness,
        event,
        attribute,
        finding.label,
        finding.concept,
        finding.scheme,
        finding.steps,
        finding.unit if attribute is not None else "",
        "" if attribute is None else _misfit(finding.unit, attribute.unit),
    )


def _misfit(unit: str, table_unit: str) -> str:
    """Return why this unit cannot be converted to the table's, or nothing."""
    if unit and unit != table_unit:
        try:
            convert(0.0, unit, table_unit)
        except UnitError as error:
            return str(error)
    return ""


def words_for(target: Target, thesaurus: "Thesaurus | None", language: str | None = None) -> Sequence[str]:
    """Return the words that organisations use for an entry of the mission table, preferred ones first."""
    if thesaurus is None:
        return []
    return list(dict.fromkeys(label.text for label in thesaurus.labels_of(target, language)))
