"""Every subscription language there is: the built-in ones, and those of third parties.

A third party's package names its `SubscriptionLanguage` in the entry-point group `dens.languages`; it is
found here without anything else being told about it. Two languages with one number, or one name, are refused.
"""

import logging
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Final, TypeVar
from xml.parsers import expat

from dens.config.entry_points import OutsidePackageError, described, members
from dens.config.refusal import Refusal
from plugins.atopss.language import ATOPSS
from plugins.boxes.language import BOXES
from plugins.composite.language import composite_language
from plugins.direct.language import DIRECT
from plugins.fuzzy.language import FUZZY
from plugins.gtopss.language import GRAPH
from plugins.guard.guard import LanguageDefect
from plugins.language import SubscriptionLanguage

if TYPE_CHECKING:
    from knowledge_manager.vocabulary.event_class import Attribute
    from plugins.authoring import Authoring
    from plugins.authoring.terms import TermShapes

Ability = TypeVar("Ability")

ENTRY_POINT_GROUP: Final = "dens.languages"

BUILT_IN: Final[tuple[SubscriptionLanguage, ...]] = (
    DIRECT,
    FUZZY,
    ATOPSS,
    GRAPH,
    composite_language(atoms=FUZZY),
    BOXES,
)
"""The languages of this package. The primitives of composites are fuzzy; to that language they are one
argument.
"""

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
FIRST_OUTSIDE, LAST_NUMBER = 16, 255
"""A number has one byte on the air; those below are this project's."""

DEFAULT: Final = FUZZY.name
"""The language of bytes where nobody says which."""


_SEPARATOR: Final = " "
"""Between namespace and name; neither can contain it."""


class RegistryError(Refusal):
    """A language is asked for in vain."""


def languages(found: Iterable[EntryPoint] | None = None) -> dict[int, SubscriptionLanguage]:
    """Return every language by its number; one that cannot be used raises `OutsidePackageError`.

    `found` replaces the installed entry points when given.
    """
    return dict(_installed()) if found is None else _with(found)


@cache
def _installed() -> dict[int, SubscriptionLanguage]:
    return _with(None)


def _with(found: Iterable[EntryPoint] | None) -> dict[int, SubscriptionLanguage]:
    known = {language.language_id: language for language in BUILT_IN}
    wanted = "a SubscriptionLanguage of plugins.language"
    for entry, language in members(ENTRY_POINT_GROUP, "language", _is_language, wanted, found):
        if not isinstance(language.name, str) or not _NAME.fullmatch(language.name):
            said = "its name is no word of small letters, digits and _"
            raise OutsidePackageError(f"{described('language', entry)}: {said}")
        if type(language.language_id) is not int or not FIRST_OUTSIDE <= language.language_id <= LAST_NUMBER:
            free = f"a language of another package takes a number from {FIRST_OUTSIDE} to {LAST_NUMBER}"
            raise OutsidePackageError(f"{described('language', entry)}: {language.language_id}; {free}")
        if not _are_names(language.namespaces):
            raise OutsidePackageError(f"{described('language', entry)}: namespaces is not a tuple of names")
        for other in known.values():
            if language.language_id == other.language_id:
                claim = f"number {language.language_id}"
                raise OutsidePackageError(f"{described('language', entry)}: {claim} is taken by {other.name}")
            if language.name == other.name:
                claim = f"name {language.name!r}"
                raise OutsidePackageError(f"{described('language', entry)}: {claim} is taken by {other.name}")
        from plugins.guard.guarded import guarded  # most have no language of another package

        known[language.language_id] = guarded(language)
    return known


def _is_language(member: object) -> bool:
    return isinstance(member, SubscriptionLanguage)


def _are_names(namespaces: object) -> bool:
    return isinstance(namespaces, tuple) and all(isinstance(one, str) and one for one in namespaces)


def language(number: int) -> SubscriptionLanguage:
    """Return the language of that number, or raise `RegistryError`."""
    known = languages()
    if number not in known:
        raise RegistryError(
            f"language {number} is unknown ({', '.join(map(str, sorted(known)))}); install the package that "
            "brings it"
        )
    return known[number]


def name_of_language(number: int) -> str:
    """Return how people call the language of that number, known or not."""
    known = languages().get(number)
    return f"language {number}" if known is None else known.name


def language_named(name: str) -> SubscriptionLanguage:
    """Return the language that people call so, or raise `RegistryError`."""
    for known in languages().values():
        if known.name == name:
            return known
    names = ", ".join(sorted(known.name for known in languages().values()))
    raise RegistryError(f'language "{name}" is unknown ({names})')


def authoring_of(language: SubscriptionLanguage) -> "Authoring":
    """Return what a person can do with a language, or raise `RegistryError` where that is nothing."""
    authoring = _authoring_of(language)
    if authoring is None:
        raise RegistryError(f"nobody writes subscriptions in the {language.name} language")
    return authoring


def _authoring_of(language: SubscriptionLanguage) -> "Authoring | None":
    """Return what people do with a language, None where nobody writes it."""
    return None if language.authoring is None else language.authoring()


def offered(ability: Ability | None, language: SubscriptionLanguage, what: str) -> Ability:
    """Return something that a language may leave out, or raise `RegistryError`: it offers no `what`."""
    if ability is None:
        raise RegistryError(f"the {language.name} language offers no {what}")
    return ability


def language_of_document(source: bytes, file: str) -> SubscriptionLanguage:
    """Return the language of a document: that of its file's name where it says it, else that of its root
    element's namespace.

    A document in no known namespace, and what is no document at all, raises `DocumentError`.
    """
    for one in languages().values():
        if file.endswith(one.suffixes):
            return one
    known = _by_namespace()
    if (namespace := _namespace_of(source)) is not None and namespace in known:
        return known[namespace]
    from plugins.authoring.xml.document import no_subscription, read_xml

    document = read_xml(source, file)
    usual, *_ = language_named(DEFAULT).namespaces
    raise no_subscription(document, usual, {one: known[one].name for one in known if one != usual})


def language_of_publication(source: bytes, file: str) -> SubscriptionLanguage:
    """Return the language of a document that tells: by the end of its file's name, or as of one that asks."""
    for one in languages().values():
        if file.endswith(one.publication_suffixes):
            return one
    return language_of_document(source, file)


def publication_suffixes() -> tuple[str, ...]:
    """Return the ends of names that documents which tell have."""
    return (".xml", *(suffix for known in languages().values() for suffix in known.publication_suffixes))


def document_suffixes() -> tuple[str, ...]:
    """Return the ends of names that subscriptions have: XML, and those of languages with documents of
    another kind.
    """
    return (".xml", *(suffix for known in languages().values() for suffix in known.suffixes))


def namespaces() -> dict[str, str]:
    """Return every namespace in which subscriptions can be written, with the name of its language."""
    return {namespace: known.name for namespace, known in _by_namespace().items()}


def _by_namespace() -> dict[str, SubscriptionLanguage]:
    found: dict[str, SubscriptionLanguage] = {}
    for known in languages().values():
        for namespace in known.namespaces:
            if namespace in found:
                claim = f"namespace {namespace} of {known.name}"
                raise RegistryError(f"{claim} is taken by {found[namespace].name}")
            found[namespace] = known
    return found


def _working_authoring(language: SubscriptionLanguage) -> "Authoring | None":
    """Return the authoring of a language; that of a language that fails is None, and the others go on."""
    try:
        return _authoring_of(language)
    except LanguageDefect as defect:
        _log_once(str(defect))
        return None


@cache
def _log_once(defect: str) -> None:
    """Log a defect of a package that the user did not name: every term passes here."""
    logging.getLogger("dens").warning("%s", defect)


def term_shapes() -> "TermShapes":
    """Return what draws and learns the terms of vocabularies: the default language, whose terms they are."""
    usual = language_named(DEFAULT)
    return offered(authoring_of(usual).terms, usual, "terms")


def term_fault(attribute: "Attribute", name: str) -> str:
    """Return why some language cannot say a term of a sound vocabulary, or nothing where all can."""
    working = (_working_authoring(known) for known in languages().values())
    shapes = (authoring.terms for authoring in working if authoring is not None)
    return next((fault for one in shapes if one and (fault := one.fault(attribute, name))), "")


class _Enough(Exception):
    """The root element is there, or what comes is none of our business."""


def _namespace_of(source: bytes) -> str | None:
    """Return the namespace of the root element; None where there is none, or a DTD, or no XML."""
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
    with suppress(_Enough, expat.ExpatError, ValueError, LookupError):  # the last: an unknown encoding
        parser.Parse(source, True)
    return found[0] or None if found else None
