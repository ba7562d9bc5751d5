"""Subscriptions as values: compiled from a document, or read from bytes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dens.app.errors import BadArgument

if TYPE_CHECKING:
    from dens.config.problems import DocumentError, Problem
    from knowledge_manager.mission_table import MissionTable
    from knowledge_manager.thesaurus.thesaurus import Thesaurus
    from plugins.authoring import Compiled, CompileOptions
    from plugins.language import SubscriptionLanguage

TEXT_NAME: Final = "<text>"
"""File name in the problems of a document that was passed as text."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription in the form in which nodes exchange it.

    `vector` is the header (id, revision, lifetime) followed by the body of the subscription language. `file`
    is None for a subscription that was read from bytes.
    """

    vector: bytes
    language: str
    language_id: int = field(repr=False)
    file: str | None = None
    compiled: "Compiled | None" = field(default=None, repr=False, compare=False)
    """What the compiler returned; None for a subscription that was read from bytes."""

    @property
    def body(self) -> bytes:
        """Return the vector without its header: the part that the language defines."""
        from watchdog.header import body_of

        return body_of(self.vector)

    @property
    def id(self) -> int:
        """Return the number of the subscription at its subscriber."""
        from watchdog.header import HEADER_ID

        return self.vector[HEADER_ID]

    @property
    def revision(self) -> int:
        from watchdog.header import HEADER_REVISION

        return self.vector[HEADER_REVISION]

    @property
    def warnings(self) -> "tuple[Problem, ...]":
        return () if self.compiled is None else self.compiled.warnings

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what the compiler changed without a warning, such as rounded lifetimes."""
        return () if self.compiled is None else self.compiled.remarks

    @property
    def steps(self) -> Mapping[str, Any]:
        """Return the intermediate results of the compiler, as `dens compile --json` prints them."""
        return {} if self.compiled is None else self.compiled.steps


def compile(
    source: str | Path | bytes,
    vocabularies: "MissionTable | None" = None,
    *,
    thesauri: Sequence[str | Path] = (),
    id: int = 0,
    revision: int = 0,
    stamp_s: int = 0,
    strict: bool = False,
    tolerance: float | None = None,
) -> Subscription:
    """Compile a subscription document, in XML or SPARQL.

    `source` is a path, or the document itself: bytes, or a string that contains `<` or `{`. Without
    `vocabularies` all shipped ones are used. The clock is never read: the same source gives the same bytes.
    Raises `DocumentError` with every problem of the document.
    """
    from dens.app.tables import load_vocabularies, other_thesaurus
    from plugins.authoring import CompileOptions

    table = load_vocabularies() if vocabularies is None else vocabularies
    words = other_thesaurus(thesauri)
    document, file = _document(source)
    options = CompileOptions(stamp_s=stamp_s, strict=strict, tolerance=tolerance, thesaurus=words)
    language, made = _compiled(document, file, table, options)
    return _subscription(language, made, file, id, revision)


def compile_files(
    paths: Iterable[Path],
    table: "MissionTable",
    thesaurus: "Thesaurus | None" = None,
    *,
    id: int = 0,
    revision: int = 0,
    stamp_s: int = 0,
    strict: bool = False,
    tolerance: float | None = None,
) -> "Iterator[Subscription | DocumentError]":
    """Compile files one by one. Publications are accepted too: their number is id·256 + revision.

    Yields the error instead of raising it, so that one invalid file does not hide the others.
    """
    from dens.config.problems import DocumentError
    from plugins.authoring import CompileOptions

    options = CompileOptions(stamp_s=stamp_s, strict=strict, tolerance=tolerance, thesaurus=thesaurus)
    for path in paths:
        try:
            language, made = compiled_document(path, table, options, accepts_publications=True)
        except DocumentError as error:
            yield error
        else:
            yield _subscription(language, made, str(path), id, revision)


def compiled_document(
    path: Path,
    table: "MissionTable",
    options: "CompileOptions | None" = None,
    *,
    accepts_publications: bool = False,
) -> "tuple[SubscriptionLanguage, Compiled]":
    """Compile the document in a file, in the language of its namespace or suffix."""
    from dens.config.reading import read_document

    return _compiled(
        read_document(path), str(path), table, options, accepts_publications=accepts_publications
    )


def compiled_vector(compiled: "Compiled", id: int = 0, revision: int = 0) -> bytes:
    """Return the body of a compiled subscription behind a header."""
    from watchdog.header import framed

    return framed(id, revision, compiled.lifetime_q, compiled.body)


def read_subscription(
    text: str, table: "MissionTable", thesaurus: "Thesaurus | None", language: str | None
) -> Subscription:
    """Return the subscription that a command-line argument names: a document, hexadecimal digits, or a file
    of bytes.
    """
    from dens.app.subscriptions.languages import chosen_language
    from dens.app.subscriptions.vectors import given_vector
    from plugins.authoring import CompileOptions

    if not is_document(text):
        chosen = chosen_language(language)
        return Subscription(given_vector(text), chosen.name, chosen.language_id)
    written, compiled = compiled_document(Path(text), table, CompileOptions(thesaurus=thesaurus))
    if language is not None and chosen_language(language) != written:
        raise BadArgument(f"{text} is written in the {written.name} language, not in {language}")
    return _subscription(written, compiled, text)


def is_document(text: str) -> bool:
    """Return whether an argument names a subscription document, not bytes."""
    from plugins.registry import document_suffixes

    return text.endswith(document_suffixes())


def _document(source: str | Path | bytes) -> tuple[bytes, str]:
    """Return the document and the name under which problems report it."""
    from dens.config.reading import read_document

    if isinstance(source, bytes):
        return source, TEXT_NAME
    if isinstance(source, str) and ("<" in source or "{" in source):
        return source.encode(), TEXT_NAME
    return read_document(Path(source)), str(source)


def _compiled(
    document: bytes,
    file: str,
    table: "MissionTable",
    options: "CompileOptions | None",
    *,
    accepts_publications: bool = False,
) -> "tuple[SubscriptionLanguage, Compiled]":
    from plugins.authoring import DEFAULTS
    from plugins.registry import authoring_of, language_of_document

    options = DEFAULTS if options is None else options
    language = language_of_document(document, file)
    authoring = authoring_of(language)
    as_publication = authoring.compile_publication if accepts_publications else None
    if as_publication is not None:
        publication = as_publication(document, file, table, options.stamp_s)
        if publication is not None:
            return language, publication
    return language, authoring.compile(document, file, table, options)


def _subscription(
    language: "SubscriptionLanguage", made: "Compiled", file: str, id: int = 0, revision: int = 0
) -> Subscription:
    vector = compiled_vector(made, id, revision)
    return Subscription(vector, language.name, language.language_id, file, made)
