"""Choice of matching algorithm and feature condition, for scenarios, node files and commands.

Names are those of the languages. A name applies to every language that has it; the others use their default.
A condition applies to a whole mission: sources, boards and mediators use the same one. Ground truth has none.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from knowledge_manager.vocabulary.event_class import UnknownName
from plugins.language import SubscriptionLanguage


@dataclass(frozen=True, slots=True)
class MatchingChoice:
    """The chosen names; None is the default of a language."""

    matcher: str | None = None
    condition: str | None = None

    def applied(self, known: Mapping[int, SubscriptionLanguage]) -> dict[int, SubscriptionLanguage]:
        """Return the languages with this choice applied. A name that none of them has raises
        `UnknownName`.
        """
        matcher = None if self.matcher is None else matcher_named(self.matcher, known.values())
        condition = None if self.condition is None else condition_named(self.condition, known.values())
        return {number: _matching_by(_under(one, condition), matcher) for number, one in known.items()}


@dataclass(frozen=True, slots=True)
class ChoiceFault:
    """A wrong key in a file: its error code, the message, and suggestions."""

    key: str
    code: str
    message: str
    meant: Sequence[str] = ()


def choice_faults(
    matcher: str | None, condition: str | None, known: Iterable[SubscriptionLanguage]
) -> Iterator[ChoiceFault]:
    """Yield the keys that no language knows."""
    spoken = tuple(known)
    for key, code, name, named in (
        ("matcher", "D390", matcher, matcher_named),
        ("condition", "D391", condition, condition_named),
    ):
        try:
            if name is not None:
                named(name, spoken)
        except UnknownName as error:
            yield ChoiceFault(key, code, str(error), error.meant)


def matcher_named(name: str, known: Iterable[SubscriptionLanguage]) -> str:
    """Return the canonical name of an algorithm, or raise `UnknownName`. Case is ignored."""
    return known_name("matcher", name, [each for language in known for each in language.algorithms])


def condition_named(name: str, known: Iterable[SubscriptionLanguage]) -> str:
    """Return the name of a feature condition, or raise `UnknownName`."""
    return known_name("condition", name, [each for language in known for each in language.conditions])


def known_name(what: str, name: str, names: Iterable[str]) -> str:
    """Return the canonical name, or raise `UnknownName`. Case is ignored."""
    there = list(dict.fromkeys(names))
    if name.casefold() not in there:
        raise UnknownName(what, name, there, most=len(there))
    return name.casefold()


def _under(language: SubscriptionLanguage, condition: str | None) -> SubscriptionLanguage:
    make = language.conditions.get(condition or "")
    return language if make is None else make()


def _matching_by(language: SubscriptionLanguage, algorithm: str | None) -> SubscriptionLanguage:
    make = language.algorithms.get(algorithm or "")
    if make is None:
        return language
    heard = language.listens_to
    if heard is not None and language.language_id in heard:
        heard = {**heard, language.language_id: make}
    return replace(language, matcher=make, listens_to=heard)
