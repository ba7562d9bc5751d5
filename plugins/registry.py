"""Every subscription language there is: the built-in ones, and those of third parties.

A third party's package names its language class in the entry-point group `dens.languages`; it is found here
without anything else being told about it. Two languages with one number, or one name, are refused.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Final

from plugins.direct.language import DirectLanguage
from plugins.fuzzy.language import FuzzyLanguage
from plugins.language import SubscriptionLanguage

ENTRY_POINT_GROUP: Final = "dens.languages"

BUILT_IN: Final[Mapping[int, Callable[[], SubscriptionLanguage]]] = MappingProxyType(
    {0: DirectLanguage, 1: FuzzyLanguage}
)
"""The languages of this package by their number."""


class RegistryError(Exception):
    """Two languages claim the same number or name, or one cannot be loaded."""


def languages(found: Iterable[EntryPoint] | None = None) -> dict[int, SubscriptionLanguage]:
    """Return every language by its number. `found` replaces the installed entry points when given."""
    known = {number: make() for number, make in BUILT_IN.items()}
    for entry in entry_points(group=ENTRY_POINT_GROUP) if found is None else found:
        try:
            language: SubscriptionLanguage = entry.load()()
        except Exception as error:
            raise RegistryError(f"language {entry.name} ({entry.value}) cannot be loaded: {error}") from error
        for other in known.values():
            if language.language_id == other.language_id or language.name == other.name:
                claim = f"number {language.language_id} or name {language.name!r}"
                raise RegistryError(
                    f"language {entry.name} ({entry.value}): {claim} is taken by {other.name}"
                )
        known[language.language_id] = language
    return known


def language(number: int) -> SubscriptionLanguage:
    """Return the language of that number, or raise `RegistryError`."""
    known = languages()
    if number not in known:
        raise RegistryError(f"language {number} is unknown ({', '.join(map(str, sorted(known)))})")
    return known[number]
