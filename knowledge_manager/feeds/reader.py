"""Reads feeds (RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, CDF) into publications, one per item.

docs/how-to/graph-cluster.md documents the mapping. Real feeds use a dozen namespaces for the same elements,
so a name counts by its local part if its namespace is the document's own; all other namespaces are
extensions. An item without guid, id or link is identified by its content; one without title and description
is skipped with a warning.
"""

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
    property_of,
    statements_about,
    words,
)
from knowledge_manager.feeds.places import position
from knowledge_manager.feeds.text import moment, person, plain, shortened
from knowledge_manager.feeds.tree import feed_tree
from knowledge_manager.feeds.xml import (
    UNREAD,
    language_of,
    line_of,
    local_name,
    markup,
    namespace_of,
    own_language,
    resolved,
    text_of,
)
from knowledge_manager.graphs.terms import RDF, Iri, Literal, TermError, iri, literal

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_RDF_RESOURCE: Final = f"{{{RDF}}}resource"
_SAME_WORDS: Final = frozenset((item_words.RSS, item_words.ATOM, "http://purl.org/atom/ns#"))
"""Namespaces that count as the document's own in every feed."""
_ALERT: Final = ("urn:oasis:names:tc:emergency:cap:", "http://www.incident.com/cap/")
_ALERT_TEXTS: Final = ("event", "severity", "urgency", "certainty", "areaDesc")
_DATES: Final = ("pubdate", "updated", "modified", "published", "issued", "created")
_TEXTS: Final = ("description", "summary", "abstract", "content")
_PEOPLE: Final = ("author", "managingeditor")


def read_feed(source: bytes, file: str) -> Feed:
    """Return a feed; invalid, wrongly encoded or oversized input raises `DocumentError`."""
    root = feed_tree(source, file)
    kind = local_name(root).lower()
    if kind == "rdf":
        from knowledge_manager.feeds.rdf import read_rdf_feed

        return read_rdf_feed(root, file)
    if kind not in ("rss", "feed", "channel"):
        formats = "RSS (<rss>, <rdf:RDF>), Atom (<feed>) or CDF (<CHANNEL>)"
        message = f"<{local_name(root)}> is not a feed; expected {formats}"
        raise DocumentError([Problem(file, line_of(root), 1, "error", "D525", message)])
    return _Reader(root, file).feed()


class _Reader:
    """Reads one document that is not RDF."""

    def __init__(self, root: "Element", file: str) -> None:
        self._root = root
        self._file = file
        self._own = _SAME_WORDS | {namespace_of(root), ""}
        self._channel = next(self._children(root, "channel"), root)
        self._language = own_language(self._channel) or text_of(
            next(self._children(self._channel, "language"), None)
        )

    def feed(self) -> Feed:
        channel = self._channel_iri()
        found: dict[Iri, FeedItem] = {}
        problems: list[Problem] = []
        for element in self._items():
            item = self._item(element, channel)
            line = line_of(element)
            if item is None:
                message = (
                    "an item has no identity, title or description; give it a guid, an id or a link; "
                    "it is skipped"
                )
                problems.append(Problem(self._file, line, 1, "warning", "D527", message))
            elif item.subject in found:
                message = f"an earlier item has the same identity {item.subject.text}; this one is skipped"
                problems.append(Problem(self._file, line, 1, "warning", "D527", message))
            else:
                found[item.subject] = item
        title = plain(text_of(next(self._children(self._channel, "title"), None)))
        return Feed(channel, title, tuple(found.values()), tuple(problems))

    def _items(self) -> Iterator["Element"]:
        for parent in dict.fromkeys((self._root, self._channel)):
            yield from self._children(parent, "item", "entry")

    def _children(self, parent: "Element", *names: str) -> Iterator["Element"]:
        """Yield the document's own children with one of these names, in the order of the names."""
        for name in names:
            for child in parent.iterchildren(etree.Element):
                if local_name(child).lower() == name and namespace_of(child) in self._own:
                    yield child

    def _channel_iri(self) -> Iri | None:
        for text in (self._identity(self._channel), self._link(self._channel)):
            if text:
                try:
                    return iri(text)
                except TermError:
                    continue
        return None

    def _identity(self, element: "Element") -> str:
        return text_of(next(self._children(element, "guid", "id"), None))

    def _link(self, element: "Element") -> str:
        links = list(self._children(element, "link"))
        alternate = [one for one in links if one.get("rel", "alternate") == "alternate"]
        for link in (*alternate, *links):
            found = (link.get("href") or text_of(link)).strip()
            if found:
                return resolved(link, found)
        return resolved(element, (element.get("HREF") or element.get("href") or "").strip())

    def _item(self, element: "Element", channel: Iri | None) -> FeedItem | None:
        link = self._link(element)
        titled = next(self._children(element, "title"), None)
        description = next(self._children(element, *_TEXTS), None)
        title, text = _seen(titled), markup(description)
        identity = self._identity(element) or link or content_identity(channel, title, text)
        if not identity:
            return None
        subject = identity_iri(identity)
        statements: list[tuple[Iri, Iri | Literal | None]] = [
            (item_words.TYPE, item_words.ITEM),
            (item_words.TITLE, words(title, self._language_of(titled))),
            (item_words.LINK, literal(link) if link else None),
            (item_words.DESCRIPTION, words(shortened(_seen(description)), self._language_of(description))),
            (item_words.DATE, self._date(element)),
            (item_words.PART_OF, channel),
            *((item_words.CREATOR, words(name, "")) for name in self._people(element)),
            *((item_words.SUBJECT, words(topic, "")) for topic in self._topics(element)),
            *position(element),
            *_alert(element),
            *self._extensions(element),
        ]
        graph = frozenset(statements_about(subject, statements))
        return FeedItem(subject, graph, title, text, line_of(element))

    def _language_of(self, element: "Element | None") -> str:
        """Return the language of a text: its own, an enclosing element's, or the channel's."""
        return language_of(element) or self._language

    def _date(self, element: "Element") -> Literal | None:
        found = [text_of(one) for one in self._children(element, *_DATES)]
        found += [text_of(one) for one in element.iterchildren(f"{{{item_words.DC}}}date")]
        found.append(element.get("LASTMOD", ""))
        return next((moment(text) for text in found if text.strip()), None)

    def _people(self, element: "Element") -> Iterator[str]:
        for one in self._children(element, *_PEOPLE):
            named = next(self._children(one, "name"), None)
            yield person(text_of(one) if named is None else text_of(named))

    def _topics(self, element: "Element") -> Iterator[str]:
        for one in self._children(element, "category"):
            yield plain(one.get("label") or one.get("term") or text_of(one))

    def _extensions(self, element: "Element") -> Iterator[tuple[Iri, Iri | Literal | None]]:
        """Yield the statements of extension elements, with a text or a resource as value."""
        for child in element.iterchildren(etree.Element):
            name = etree.QName(child)
            namespace = name.namespace or ""
            if namespace in self._own | UNREAD or namespace.startswith(_ALERT) or len(child):
                continue
            property_ = property_of(namespace, name.localname)
            if property_ is None or property_ == item_words.DATE:
                continue
            yield property_, _value(child, self._language_of(child), property_)


def _value(element: "Element", language: str, property_: Iri) -> Iri | Literal | None:
    named = element.get(_RDF_RESOURCE)
    if named is not None:
        try:
            return iri(resolved(element, named))
        except TermError:
            return None
    text = shortened(plain(text_of(element)))
    if property_ == item_words.CREATOR:
        return words(person(text), "")
    return words(text, "" if property_ == item_words.SUBJECT else language if own_language(element) else "")


def _alert(element: "Element") -> Iterator[tuple[Iri, Literal | None]]:
    """Yield the Common Alerting Protocol fields of an emergency feed, whatever the version."""
    for one in element.iterdescendants(etree.Element):
        name = etree.QName(one)
        if not (name.namespace or "").startswith(_ALERT):
            continue
        property_ = property_of(item_words.CAP, name.localname)
        assert property_ is not None, "the namespace is ours"
        if name.localname in _ALERT_TEXTS:
            yield property_, words(shortened(plain(text_of(one))), "")
        elif name.localname == "expires" and text_of(one).strip():
            yield property_, moment(text_of(one))


def _seen(element: "Element | None") -> str:
    """Return the visible text: markup is removed unless the element is declared as plain text."""
    text = markup(element)
    is_text = element is not None and element.get("type") == "text"
    return " ".join(text.split()) if is_text or len(element if element is not None else ()) else plain(text)
