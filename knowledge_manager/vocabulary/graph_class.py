"""Graph classes: kinds of graph publications, listed in a vocabulary like event classes.

A graph class defines which terms are encoded as numbers, its taxonomy, the maximum size of a publication, and
the groups of properties (facets) by which publishers can be looked up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from knowledge_manager.graphs.taxonomy import NO_TAXONOMY, Taxonomy
from knowledge_manager.vocabulary.event_class import NOTIFICATION_LIFETIME_S, UnknownName

MOST_BYTES: Final = 4096
"""Default maximum bytes of a publication: 17 frames of a radio with 255 bytes."""

LARGEST_PUBLICATION: Final = 60_000
"""Fits into a datagram with a margin."""


@dataclass(frozen=True, slots=True)
class Facet:
    """A group of properties. In an extract it is an attribute, so that publishers are found by it. The open
    facet holds all properties that are in no other.
    """

    name: str
    index: int
    properties: tuple[str, ...]
    is_open: bool = False
    about: str = ""


@dataclass(frozen=True, slots=True)
class GraphClass:
    """A kind of graph publication."""

    name: str
    index: int
    namespaces: Mapping[str, str]
    terms: tuple[str, ...]
    facets: tuple[Facet, ...]
    taxonomy: Taxonomy = NO_TAXONOMY
    most_bytes: int = MOST_BYTES
    about: str = ""
    notification_lifetime_s: int = NOTIFICATION_LIFETIME_S
    taxonomy_name: str = ""
    """The name of a shipped taxonomy, or a file."""
    _facet_of: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found = {one: facet.index for facet in self.facets for one in facet.properties}
        object.__setattr__(self, "_facet_of", found)

    @property
    def attributes(self) -> tuple[Facet, ...]:
        """Return the facets, which are the attributes in an extract."""
        return self.facets

    def attribute(self, name: str) -> Facet:
        """Return the facet of that name, or raise `UnknownName`."""
        for facet in self.facets:
            if facet.name == name:
                return facet
        raise UnknownName("facet", name, [facet.name for facet in self.facets], self.name)

    def attribute_at(self, index: int) -> Facet:
        """Return the facet of that index, or raise `UnknownName`."""
        for facet in self.facets:
            if facet.index == index:
                return facet
        raise UnknownName("facet index", str(index), [str(one.index) for one in self.facets], self.name)

    def facet_of(self, property_: str) -> int | None:
        """Return the index of the facet of a property, or None."""
        if property_ in self._facet_of:
            return self._facet_of[property_]
        return next((facet.index for facet in self.facets if facet.is_open), None)

    def expanded(self, name: str) -> str | None:
        """Return the IRI of a prefixed name, or None if the prefix is unknown."""
        prefix, separator, rest = name.partition(":")
        return self.namespaces[prefix] + rest if separator and prefix in self.namespaces else None
