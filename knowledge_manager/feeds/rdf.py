"""Reads RDF feeds (RSS 0.90 and 1.0). Each item is parsed as RDF on its own.

So nested nodes and `rdf:resource` keep their meaning, and an invalid item does not affect the others.
"""

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lxml import etree

from dens.config.problems import DocumentError, Problem
from knowledge_manager.feeds import item as item_words
from knowledge_manager.feeds.item import (
    Feed,
    FeedItem,
    content_identity,
    identity_iri,
    statements_about,
    words,
)
from knowledge_manager.feeds.places import position
from knowledge_manager.feeds.text import moment, person, plain, shortened
from knowledge_manager.feeds.xml import BASE, UNREAD, language_of, line_of, local_name, markup, text_of
from knowledge_manager.graphs.graph_reader import read_graph
from knowledge_manager.graphs.terms import RDF, STRING, Iri, Literal, Term, TermError, Triple, iri

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_ABOUT: Final = f"{{{RDF}}}about"
_LANGUAGE: Final = f"{{{item_words.DC}}}language"
_OLD: Final = ("http://my.netscape.com/rdf/simple/0.9/", "http://channel.netscape.com/rdf/simple/0.9/")
"""RSS 0.90, which has the same elements as RSS 1.0."""


def read_rdf_feed(root: "Element", file: str) -> Feed:
    """Return the valid items of a feed whose root element is `rdf:RDF`."""
    channel = next(_named(root, "channel"), None)
    whole = None if channel is None else _channel_iri(channel)
    spoken = "" if channel is None else text_of(channel.find(_LANGUAGE))
    found: dict[Iri, FeedItem] = {}
    problems: list[Problem] = []
    for element in _named(root, "item"):
        line = line_of(element)
        identity = (
            element.get(_ABOUT, "").strip()
            or text_of(next(_named(element, "link"), None))
            or content_identity(whole, *_title_and_text(element))
        )
        if not identity:
            message = (
                "an item has no identity, title or description; give it rdf:about or a link; it is skipped"
            )
            problems.append(Problem(file, line, 1, "warning", "D527", message))
            continue
        subject = identity_iri(identity)
        if subject in found:
            message = f"an earlier item has the same identity {subject.text}; this one is skipped"
            problems.append(Problem(file, line, 1, "warning", "D527", message))
            continue
        try:
            found[subject] = _item(element, subject, whole, spoken, file)
        except DocumentError as error:
            message = f"an item is not valid RDF ({error.problems[0].message}); it is skipped"
            problems.append(Problem(file, line, 1, "warning", "D527", message))
    title = "" if channel is None else plain(text_of(next(_named(channel, "title"), None)))
    return Feed(whole, title, tuple(found.values()), tuple(problems))


def _named(parent: "Element", name: str) -> Iterator["Element"]:
    """Yield the RSS children of that name."""
    for child in parent.iterchildren(etree.Element):
        if local_name(child) == name and (etree.QName(child).namespace or "") in (item_words.RSS, *_OLD):
            yield child


def _channel_iri(channel: "Element") -> Iri | None:
    for text in (channel.get(_ABOUT, "").strip(), text_of(next(_named(channel, "link"), None))):
        try:
            return iri(text)
        except TermError:
            continue
    return None


def _item(element: "Element", subject: Iri, channel: Iri | None, spoken: str, file: str) -> FeedItem:
    """Return an item; `spoken` is the language of its channel."""
    alone = etree.Element(f"{{{RDF}}}RDF", nsmap={"rdf": RDF})
    alone.append(copy.deepcopy(element))
    alone[0].tail = None
    alone[0].set(_ABOUT, subject.text)
    if element.base:
        alone.set(BASE, element.base)
    stated = read_graph(etree.tostring(alone), file, "xml").graph
    language = language_of(element) or spoken
    graph = set(_mapped(stated, subject, language))
    graph |= statements_about(subject, [(item_words.PART_OF, channel), *position(element)])
    return FeedItem(subject, frozenset(graph), *_title_and_text(element), line_of(element))


def _title_and_text(element: "Element") -> tuple[str, str]:
    title, description = (next(_named(element, name), None) for name in ("title", "description"))
    return plain(text_of(title)), markup(description)


def _mapped(stated: frozenset[Triple], subject: Iri, language: str) -> Iterator[Triple]:
    """Yield the statements with RSS 1.0 IRIs and normalised texts."""
    for triple in stated:
        property_, value = _today(triple.property), _today(triple.object)
        if isinstance(property_, Iri) and property_.text.startswith(tuple(UNREAD)):
            continue
        if isinstance(value, Literal) and value.datatype == STRING and triple.subject == subject:
            mapped = _text(property_, value.text, language)
            if mapped is not None:
                yield Triple(subject, property_, mapped)
        else:
            yield Triple(triple.subject, property_, value)


def _today(term: Term) -> Term:
    if isinstance(term, Iri):
        for old in _OLD:
            if term.text.startswith(old):
                return Iri(item_words.RSS + term.text.removeprefix(old))
    return term


def _text(property_: Term, text: str, language: str) -> Literal | None:
    """Return a text of the item itself."""
    if property_ == item_words.DATE:
        return moment(text) if text.strip() else None
    if property_ == item_words.TITLE:
        return words(plain(text), language)
    if property_ == item_words.DESCRIPTION:
        return words(shortened(plain(text)), language)
    if property_ == item_words.CREATOR:
        return words(person(text), "")
    if property_ == item_words.LINK:
        return words(text.strip(), "")
    return words(shortened(plain(text)), "")
