"""All subscription languages: the built-in ones, and those of installed packages.

A package lists its `SubscriptionLanguage` in the entry-point group `dens.languages`. Two languages with the
same number or the same name are refused.
"""

import logging
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Final, TypeVar
from xml.parsers import expat

from dens.config.entry_points import OutsidePackageError, described, members
from dens.config.refusal import Refusal
from plugins.language import LanguageDefect, SubscriptionLanguage

if TYPE_CHECKING:
    from knowledge_manager.vocabulary.event_class import Attribute
    from plugins.authoring import Authoring
    from plugins.authoring.terms import TermShapes

Ability = TypeVar("Ability")

ENTRY_POINT_GROUP: Final = "dens.languages"


@dataclass(frozen=True, slots=True)
class LanguageEntry:
    """How a language is found, and how to load it. A built-in language is loaded on first use only."""

    number: int
    name: str
    load: Callable[[], SubscriptionLanguage]
    namespaces: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    publication_suffixes: tuple[str, ...] = ()


def _direct() -> SubscriptionLanguage:
    from plugins.direct.language import DIRECT

    return DIRECT


def _fuzzy() -> SubscriptionLanguage:
    from plugins.fuzzy.language import FUZZY

    return FUZZY


def _atopss() -> SubscriptionLanguage:
    from plugins.atopss.language import ATOPSS

    return ATOPSS


def _graph() -> SubscriptionLanguage:
    from plugins.gtopss.language import GRAPH

    return GRAPH


@cache
def _composite() -> SubscriptionLanguage:
    from plugins.composite.language import composite_language

    return composite_language(atoms=_fuzzy())


def _boxes() -> SubscriptionLanguage:
    from plugins.boxes.language import BOXES

    return BOXES


BUILT_IN: Final[tuple[LanguageEntry, ...]] = (
    LanguageEntry(0, "direct", _direct),
    LanguageEntry(1, "fuzzy", _fuzzy, ("urn:dens:subscription:1",)),
    LanguageEntry(2, "atopss", _atopss, ("urn:dens:approximate:1",)),
    LanguageEntry(3, "graph", _graph, ("urn:dens:graph:1",), (".rq",), (".ttl", ".nt", ".jsonld", ".rdf")),
    LanguageEntry(4, "composite", _composite, ("urn:dens:composite:1",)),
    LanguageEntry(5, "boxes", _boxes, ("urn:dens:boxes:1",)),
)
"""The built-in languages. Primitives of composites are fuzzy subscriptions.

Each language declares the same number, names and suffixes; a test compares them.
"""

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
FIRST_OUTSIDE, LAST_NUMBER = 16, 255
"""A number is one byte on the air; lower numbers are reserved for this project."""

DEFAULT: Final = "fuzzy"
"""The language of vectors if none is given."""


_SEPARATOR: Final = " "
"""Between namespace and name in expat's names; neither can contain it."""


class RegistryError(Refusal):
    """An unknown language, or one that lacks what a command needs."""


def languages(found: Iterable[EntryPoint] | None = None) -> dict[int, SubscriptionLanguage]:
    """Load and return all languages by number. One that cannot be used raises `OutsidePackageError`.

    `found` replaces the installed entry points.
    """
    entries = _installed() if found is None else _with(found)
    return {number: entry.load() for number, entry in entries.items()}


@cache
def _installed() -> dict[int, LanguageEntry]:
    return _with(None)


def _with(found: Iterable[EntryPoint] | None) -> dict[int, LanguageEntry]:
    known = {entry.number: entry for entry in BUILT_IN}
    wanted = "a SubscriptionLanguage of plugins.language"
    for entry, language in members(ENTRY_POINT_GROUP, "language", _is_language, wanted, found):
        if not isinstance(language.name, str) or not _NAME.fullmatch(language.name):
            reason = "its name may contain only lowercase letters, digits and _"
            raise OutsidePackageError(f"{described('language', entry)}: {reason}")
        if type(language.language_id) is not int or not FIRST_OUTSIDE <= language.language_id <= LAST_NUMBER:
            free = f"a language of another package takes a number from {FIRST_OUTSIDE} to {LAST_NUMBER}"
            raise OutsidePackageError(f"{described('language', entry)}: {language.language_id}; {free}")
        if not _are_names(language.namespaces):
            raise OutsidePackageError(f"{described('language', entry)}: namespaces is not a tuple of names")
        for other in known.values():
            if language.language_id == other.number:
                claim = f"number {language.language_id}"
                raise OutsidePackageError(f"{described('language', entry)}: {claim} is taken by {other.name}")
            if language.name == other.name:
                claim = f"name {language.name!r}"
                raise OutsidePackageError(f"{described('language', entry)}: {claim} is taken by {other.name}")
        from plugins.guard.guarded import guarded  # imported only if there are languages of other packages

        known[language.language_id] = entry_of(guarded(language))
    return known


def entry_of(language: SubscriptionLanguage) -> LanguageEntry:
    """Return the entry of a language that is already loaded."""
    return LanguageEntry(
        language.language_id,
        language.name,
        lambda: language,
        language.namespaces,
        language.suffixes,
        language.publication_suffixes,
    )


def _is_language(member: object) -> bool:
    return isinstance(member, SubscriptionLanguage)


def _are_names(namespaces: object) -> bool:
    return isinstance(namespaces, tuple) and all(isinstance(one, str) and one for one in namespaces)


def language(number: int) -> SubscriptionLanguage:
    """Return the language with this number, or raise `RegistryError`."""
    known = _installed()
    if number not in known:
        raise RegistryError(
            f"language {number} is unknown ({', '.join(map(str, sorted(known)))}); install the package that "
            "provides it"
        )
    return known[number].load()


def name_of_language(number: int) -> str:
    """Return the name of a language, known or not."""
    entry = _installed().get(number)
    return f"language {number}" if entry is None else entry.name


def language_named(name: str) -> SubscriptionLanguage:
    """Return the language with this name, or raise `RegistryError`."""
    entries = _installed().values()
    for entry in entries:
        if entry.name == name:
            return entry.load()
    names = ", ".join(sorted(entry.name for entry in entries))
    raise RegistryError(f'language "{name}" is unknown ({names})')


def authoring_of(language: SubscriptionLanguage) -> "Authoring":
    """Return the authoring interface of a language, or raise `RegistryError` if it has none."""
    authoring = _authoring_of(language)
    if authoring is None:
        raise RegistryError(
            f"the {language.name} language has no authoring: its subscriptions cannot be written as documents"
        )
    return authoring


def _authoring_of(language: SubscriptionLanguage) -> "Authoring | None":
    return None if language.authoring is None else language.authoring()


def offered(ability: Ability | None, language: SubscriptionLanguage, what: str) -> Ability:
    """Return an optional ability of a language, or raise `RegistryError`."""
    if ability is None:
        raise RegistryError(f"the {language.name} language does not support {what}")
    return ability


def language_of_document(source: bytes, file: str) -> SubscriptionLanguage:
    """Return the language of a document, by its file name suffix or the namespace of its root element.

    A document with an unknown namespace, and a file that is not a document, raise `DocumentError`.
    """
    for entry in _installed().values():
        if file.endswith(entry.suffixes):
            return entry.load()
    known = _by_namespace()
    if (namespace := _namespace_of(source)) is not None and namespace in known:
        return known[namespace].load()
    from plugins.authoring.xml.document import no_subscription, read_xml

    document = read_xml(source, file)
    usual, *_ = language_named(DEFAULT).namespaces
    raise no_subscription(document, usual, {one: known[one].name for one in known if one != usual})


def language_of_publication(source: bytes, file: str) -> SubscriptionLanguage:
    """Return the language of a publication, by its file name suffix or like that of a subscription."""
    for entry in _installed().values():
        if file.endswith(entry.publication_suffixes):
            return entry.load()
    return language_of_document(source, file)


def publication_suffixes() -> tuple[str, ...]:
    """Return the file name suffixes of publications."""
    return (".xml", *(suffix for entry in _installed().values() for suffix in entry.publication_suffixes))


def document_suffixes() -> tuple[str, ...]:
    """Return the file name suffixes of subscriptions."""
    return (".xml", *(suffix for entry in _installed().values() for suffix in entry.suffixes))


def namespaces() -> dict[str, str]:
    """Return all namespaces of subscriptions, with the names of their languages."""
    return {namespace: entry.name for namespace, entry in _by_namespace().items()}


def _by_namespace() -> dict[str, LanguageEntry]:
    owners: dict[str, LanguageEntry] = {}
    for entry in _installed().values():
        for namespace in entry.namespaces:
            if namespace in owners:
                claim = f"namespace {namespace} of {entry.name}"
                raise RegistryError(f"{claim} is taken by {owners[namespace].name}")
            owners[namespace] = entry
    return owners


def _working_authoring(language: SubscriptionLanguage) -> "Authoring | None":
    """Return the authoring of a language; None if the language is faulty."""
    try:
        return _authoring_of(language)
    except LanguageDefect as defect:
        _log_once(str(defect))
        return None


@cache
def _log_once(defect: str) -> None:
    """Log a defect once: it is found again with every document and every term."""
    logging.getLogger("dens").warning("%s", defect)


def term_shapes() -> "TermShapes":
    """Return the term shapes of the default language, whose terms vocabularies have."""
    usual = language_named(DEFAULT)
    return offered(authoring_of(usual).terms, usual, "terms")


def term_fault(attribute: "Attribute", name: str) -> str:
    """Return why some language cannot express a term of a valid vocabulary; empty if all can."""
    working = (_working_authoring(known) for known in languages().values())
    shapes = (authoring.terms for authoring in working if authoring is not None)
    return next((fault for one in shapes if one and (fault := one.fault(attribute, name))), "")


class _Enough(Exception):
    """Stops the parser at the root element or at a DTD."""


def _namespace_of(source: bytes) -> str | None:
    """Return the namespace of the root element, or None if there is none, there is a DTD, or it
    is not XML.
    """
    found: list[str] = []

    def begins(name: str, attributes: object) -> None:
        namespace, separator, _ = name.rpartition(_SEPARATOR)
        found.append(namespace if separator else "")
        raise _Enough

    def refused(*_: object) -> None:
        raise _Enough

    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    parser.StartElementHandler = begins
    parser.StartDoctypeDeclHandler = refused
    with suppress(_Enough, expat.ExpatError, ValueError, LookupError):  # LookupError: an unknown encoding
        parser.Parse(source, True)
    return found[0] or None if found else None
