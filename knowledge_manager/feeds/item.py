"""What is read out of feeds: items, each one publication, and the words that they are described in."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote

from dens.config.problems import Problem
from knowledge_manager.graphs.terms import RDF, STRING, Graph, Iri, Literal, TermError, Triple, iri, literal

RSS: Final = "http://purl.org/rss/1.0/"
DC: Final = "http://purl.org/dc/elements/1.1/"
DCTERMS: Final = "http://purl.org/dc/terms/"
GEO: Final = "http://www.w3.org/2003/01/geo/wgs84_pos#"
CAP: Final = "urn:oasis:names:tc:emergency:cap:1.2:"
ATOM: Final = "http://www.w3.org/2005/Atom"

TYPE: Final = Iri(RDF + "type")
ITEM: Final = Iri(RSS + "item")
TITLE: Final = Iri(RSS + "title")
LINK: Final = Iri(RSS + "link")
DESCRIPTION: Final = Iri(RSS + "description")
DATE: Final = Iri(DC + "date")
CREATOR: Final = Iri(DC + "creator")
SUBJECT: Final = Iri(DC + "subject")
PART_OF: Final = Iri(DCTERMS + "isPartOf")
LATITUDE: Final = Iri(GEO + "lat")
LONGITUDE: Final = Iri(GEO + "long")

OWN_ITEM: Final = "urn:dens:item:"
"""Before an identity that is no IRI."""

_LONGEST_IDENTITY: Final = 200

ClassOf = Callable[[str], Iri | None]
"""The class that exactly one label of a taxonomy names, if any does."""


@dataclass(frozen=True, slots=True)
class FeedItem:
    """One item: who it is, the publication it becomes, and its text before it was cut."""

    subject: Iri
    graph: Graph
    title: str
    text: str
    """The whole description with its markup: an item that is a subscription has its query here."""
    line: int

    def with_classes(self, class_of: ClassOf) -> "FeedItem":
        """Return it with the classes that its subjects name beside the words."""
        found = {
            Triple(self.subject, SUBJECT, known)
            for triple in self.graph
            if triple.property == SUBJECT and isinstance(triple.object, Literal)
            if (known := class_of(triple.object.text)) is not None
        }
        return replace(self, graph=self.graph | found)

    def first(self, property_: Iri) -> str:
        """Return the least text that a property of the item has, or nothing."""
        texts = (
            triple.object.text
            for triple in self.graph
            if triple.subject == self.subject
            and triple.property == property_
            and isinstance(triple.object, Iri | Literal)
        )
        return min(texts, default="")


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed: the channel, its items in their order, and what could not be read of it."""

    channel: Iri | None
    title: str
    items: tuple[FeedItem, ...]
    problems: tuple[Problem, ...]


def iri_of_identity(identity: str) -> Iri:
    """Return an item's identity as an IRI; what is none is quoted, or hashed where that would be long."""
    try:
        return iri(identity)
    except TermError:
        quoted = quote(identity, safe="")
    if len(quoted) > _LONGEST_IDENTITY:
        quoted = hashlib.sha256(identity.encode()).hexdigest()
    return Iri(OWN_ITEM + quoted)


def content_identity(channel: Iri | None, title: str, text: str) -> str:
    """Return an identity for an item that states none: a digest of its channel, title and description, or
    nothing where it has neither of the last two. An item whose text changes is another item then.
    """
    said = [" ".join(one.split()) for one in (title, text)]
    if not any(said):
        return ""
    parts = ["" if channel is None else channel.text, *said]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def property_of(namespace: str, name: str) -> Iri | None:
    """Return the property that an element of an extension is, None where its namespace is no IRI."""
    between = "" if namespace.endswith(("/", "#", ":")) else "#"
    try:
        return iri(namespace + between + name)
    except TermError:
        return None


def words(text: str, language: str) -> Literal | None:
    """Return a text in a language, as far as the tag is one; None where there is no text."""
    if not text:
        return None
    try:
        return literal(text, STRING, language)
    except TermError:
        return literal(text)


def described(subject: Iri, statements: Iterable[tuple[Iri, Iri | Literal | None]]) -> set[Triple]:
    """Return statements about an item, without those that say nothing."""
    return {Triple(subject, property_, value) for property_, value in statements if value is not None}
