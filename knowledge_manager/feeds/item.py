"""Feed items, one publication each, and the IRIs that describe them."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote

from dens.config.problems import Problem
from knowledge_manager.graphs.taxonomy import Taxonomy
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
"""Prefix of item IRIs made from an identity that is not an IRI."""

_LONGEST_IDENTITY: Final = 200

ClassOf = Callable[[str], Iri | None]
"""Maps a text to the class whose label it is, if exactly one class has it."""


def class_by_label(taxonomy: Taxonomy) -> ClassOf:
    """Return a function that finds the class with a label, ignoring case and language."""
    classes: dict[str, set[str]] = {}
    for iri_text, labels in taxonomy.labels.items():
        if iri_text in taxonomy:
            for label in labels:
                classes.setdefault(label.text.casefold(), set()).add(iri_text)
    unique = {text: Iri(next(iter(iris))) for text, iris in classes.items() if len(iris) == 1}
    return lambda text: unique.get(text.strip().casefold())


@dataclass(frozen=True, slots=True)
class FeedItem:
    """One item: its IRI, its publication, and its untruncated text."""

    subject: Iri
    graph: Graph
    title: str
    text: str
    """The whole description with markup; an item that is a subscription has its query here."""
    line: int

    def with_classes(self, class_of: ClassOf) -> "FeedItem":
        """Add the classes whose labels are among the item's subjects."""
        found = {
            Triple(self.subject, SUBJECT, known)
            for triple in self.graph
            if triple.property == SUBJECT and isinstance(triple.object, Literal)
            if (known := class_of(triple.object.text)) is not None
        }
        return replace(self, graph=self.graph | found)

    def first(self, property_: Iri) -> str:
        """Return the first text of a property in sort order, or nothing."""
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
    """A feed: the channel, its items in order, and the problems of items that were skipped."""

    channel: Iri | None
    title: str
    items: tuple[FeedItem, ...]
    problems: tuple[Problem, ...]


def identity_iri(identity: str) -> Iri:
    """Return an item's identity as an IRI. Other texts are quoted, or hashed if that would be long."""
    try:
        return iri(identity)
    except TermError:
        quoted = quote(identity, safe="")
    if len(quoted) > _LONGEST_IDENTITY:
        quoted = hashlib.sha256(identity.encode()).hexdigest()
    return Iri(OWN_ITEM + quoted)


def content_identity(channel: Iri | None, title: str, text: str) -> str:
    """Return an identity for an item without one: a digest of channel, title and description, or nothing if
    it has neither title nor description. A changed text is then another item.
    """
    texts = [" ".join(part.split()) for part in (title, text)]
    if not any(texts):
        return ""
    parts = ["" if channel is None else channel.text, *texts]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def property_of(namespace: str, name: str) -> Iri | None:
    """Return the property IRI of an extension element, or None if its namespace is not an IRI."""
    between = "" if namespace.endswith(("/", "#", ":")) else "#"
    try:
        return iri(namespace + between + name)
    except TermError:
        return None


def words(text: str, language: str) -> Literal | None:
    """Return a text as a literal, with the language if the tag is valid; None for an empty text."""
    if not text:
        return None
    try:
        return literal(text, STRING, language)
    except TermError:
        return literal(text)


def statements_about(subject: Iri, statements: Iterable[tuple[Iri, Iri | Literal | None]]) -> set[Triple]:
    """Return the statements about an item, without those whose value is None."""
    return {Triple(subject, property_, value) for property_, value in statements if value is not None}
