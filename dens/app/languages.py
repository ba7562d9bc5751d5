"""Which subscription language is meant: documents say it by their namespace, of bytes the caller does."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from knowledge_manager.mission_table import MissionTable
    from knowledge_manager.thesaurus.thesaurus import Thesaurus
    from plugins.authoring import Compiled
    from plugins.language import Matcher, SubscriptionLanguage


@dataclass(frozen=True, slots=True)
class GivenSubscription:
    """A subscription as a person handed it over; `compiled` is None where it was bytes already."""

    language: "SubscriptionLanguage"
    vector: bytes
    compiled: "Compiled | None" = None


def chosen_language(name: str | None) -> "SubscriptionLanguage":
    """Return the language that the command line names, the usual one where it names none."""
    from plugins.registry import DEFAULT, RegistryError, language_named

    if name is None:
        return language_named(DEFAULT)
    try:
        return language_named(name)
    except RegistryError as error:
        raise typer.BadParameter(str(error), param_hint="--language") from None


def compiled_document(
    path: Path,
    table: "MissionTable",
    thesaurus: "Thesaurus | None" = None,
    *,
    stamp_s: int = 0,
    may_tell: bool = False,
    **options: Any,
) -> "tuple[SubscriptionLanguage, Compiled]":
    """Compile a document in whichever language it is; what is wrong with it raises `DocumentError`. With
    `may_tell` it may also be a publication.
    """
    from dens.config.reading import read_document
    from plugins.registry import authoring_of, language_of_document

    source = read_document(path)
    language = language_of_document(source, str(path))
    authoring = authoring_of(language)
    told = authoring.compile_publication if may_tell else None
    if told is not None and (publication := told(source, str(path), table, stamp_s)) is not None:
        return language, publication
    made = authoring.compile(source, str(path), table, stamp_s=stamp_s, thesaurus=thesaurus, **options)
    return language, made


def given_subscription(
    text: str, table: "MissionTable", thesaurus: "Thesaurus | None", language: str | None
) -> GivenSubscription:
    """Return the subscription that an argument means: a document, hexadecimal, or a file of bytes."""
    from dens.app.vectors import given_vector

    if not is_document(text):
        return GivenSubscription(chosen_language(language), given_vector(text))
    written, compiled = compiled_document(Path(text), table, thesaurus)
    if language is not None and chosen_language(language) != written:
        raise typer.BadParameter(f"{text} is written in the {written.name} language, not in {language}")
    return GivenSubscription(written, compiled_vector(compiled), compiled)


def is_document(text: str) -> bool:
    """Say whether an argument names a subscription that a person wrote, not bytes."""
    from plugins.registry import document_suffixes

    return text.endswith(document_suffixes())


def publication_in(path: Path, language: "SubscriptionLanguage", table: "MissionTable") -> bytes:
    """Return the notification that a document is; what is wrong with it raises `DocumentError`."""
    from dens.config.reading import read_document
    from plugins.registry import offered

    read = offered(language.publications, language, "publications")()
    return read.read(read_document(path), str(path), table).vector


def compiled_vector(compiled: "Compiled", id: int = 0, seq: int = 0) -> bytes:
    """Return the vector of a compiled subscription under this number and revision."""
    from watchdog.header import framed

    return framed(id, seq, compiled.lifetime_q, compiled.body)


def with_options(language: "SubscriptionLanguage", name: str | None, options: list[str]) -> str | None:
    """Return the name of an algorithm that carries these options, as languages that know options take it."""
    if not options:
        return name
    if name is None:
        raise typer.BadParameter("name the algorithm with --algorithm", param_hint="--with")
    if language.authoring is None:
        raise typer.BadParameter(f"the {language.name} language has no options", param_hint="--with")
    return f"{name}:{','.join(options)}"


def matcher_for_lines(
    language: "SubscriptionLanguage", vocabulary: list[str] | None, algorithm: str | None, features: str
) -> "Matcher":
    """Return what matches vectors of files in this language.

    A language without a loose matcher takes a mission's: the vocabularies that are named, or all that ship.
    """
    from dens.app.tables import chosen_table
    from plugins.matching_choice import MatchingChoice
    from plugins.registry import authoring_of

    if algorithm is not None and not language.algorithms:
        raise typer.BadParameter(
            f"the {language.name} language has one matcher, which has no name", param_hint="--algorithm"
        )
    if features != "subset" and not language.conditions:
        raise typer.BadParameter(
            f"the {language.name} language has no feature conditions", param_hint="--features"
        )
    loose = None if language.authoring is None else authoring_of(language).loose_matcher
    if loose is not None:
        return loose(chosen_table(vocabulary) if vocabulary else None, algorithm, features)
    choice = MatchingChoice(algorithm, features if language.conditions else None)
    [made] = choice.applied({language.language_id: language}).values()
    return made.matcher(chosen_table(vocabulary))
