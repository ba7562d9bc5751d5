"""Selects the subscription language of bytes, and its matcher."""

from pathlib import Path
from typing import TYPE_CHECKING

from dens.app.errors import BadArgument

if TYPE_CHECKING:
    from knowledge_manager.mission_table import MissionTable
    from plugins.language import Matcher, SubscriptionLanguage


def chosen_language(name: str | None) -> "SubscriptionLanguage":
    """Return the language of this name, or the default language."""
    from plugins.registry import DEFAULT, RegistryError, language_named

    if name is None:
        return language_named(DEFAULT)
    try:
        return language_named(name)
    except RegistryError as error:
        raise BadArgument(str(error), "--language") from None


def publication_in(path: Path, language: "SubscriptionLanguage", table: "MissionTable") -> bytes:
    """Return the notification vector of a publication document."""
    from dens.config.reading import read_document
    from plugins.registry import offered

    read = offered(language.publications, language, "publications")()
    return read.read(read_document(path), str(path), table).vector


def with_options(language: "SubscriptionLanguage", name: str | None, options: list[str]) -> str | None:
    """Return `name:option,option`, the form in which languages accept the options of an algorithm."""
    if not options:
        return name
    if name is None:
        raise BadArgument("name the algorithm with --algorithm", "--with")
    if language.authoring is None:
        raise BadArgument(f"the {language.name} language has no options", "--with")
    return f"{name}:{','.join(options)}"


def matcher_for_lines(
    language: "SubscriptionLanguage", vocabulary: list[str] | None, algorithm: str | None, features: str
) -> "Matcher":
    """Return the matcher for vectors from files.

    A language without a matcher of its own for loose vectors uses the matcher of a mission: the named
    vocabularies, or all shipped ones.
    """
    from dens.app.tables import chosen_table
    from plugins.matching_choice import MatchingChoice
    from plugins.registry import authoring_of

    if algorithm is not None and not language.algorithms:
        raise BadArgument(f"the {language.name} language has only one matching algorithm", "--algorithm")
    if features != "subset" and not language.conditions:
        raise BadArgument(f"the {language.name} language has no feature conditions", "--features")
    loose = None if language.authoring is None else authoring_of(language).loose_matcher
    if loose is not None:
        return loose(chosen_table(vocabulary) if vocabulary else None, algorithm, features)
    choice = MatchingChoice(algorithm, features if language.conditions else None)
    [made] = choice.applied({language.language_id: language}).values()
    return made.matcher(chosen_table(vocabulary))
