"""Writes publications as an RSS 1.0 feed, which is RDF, so that no statement is lost."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lxml import etree

from knowledge_manager.feeds.item import DC, DCTERMS, DESCRIPTION, GEO, ITEM, LINK, RSS, TITLE, TYPE
from knowledge_manager.graphs.terms import RDF, STRING, Blank, Graph, Iri, Literal, Term, written

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_PREFIXES: Final[Mapping[Any, str]] = {None: RSS, "rdf": RDF, "dc": DC, "dcterms": DCTERMS, "geo": GEO}
_XML_LANGUAGE: Final = "{http://www.w3.org/XML/1998/namespace}lang"
_ELEMENT_NAME: Final = re.compile(r"(.*[^\w.\-]|)([A-Za-z_][\w.\-]*)", re.S)
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_UNKNOWN: Final = "\ufffd"


@dataclass(frozen=True, slots=True)
class Channel:
    """The metadata of a feed."""

    about: str
    title: str
    link: str
    description: str


def write_feed(channel: Channel, items: Iterable[tuple[Iri, Graph]]) -> bytes:
    """Return a feed with these items in order, each a subject and its graph.

    Skipped are properties that cannot be the name of an XML element, and statements about other subjects.
    Characters that XML cannot hold become U+FFFD.
    """
    listed = list(items)
    root = etree.Element(f"{{{RDF}}}RDF", nsmap=_PREFIXES)
    head = etree.SubElement(root, f"{{{RSS}}}channel", {f"{{{RDF}}}about": _cleaned(channel.about)})
    for name, text in (
        ("title", channel.title),
        ("link", channel.link),
        ("description", channel.description),
    ):
        etree.SubElement(head, f"{{{RSS}}}{name}").text = _cleaned(text)
    sequence = etree.SubElement(etree.SubElement(head, f"{{{RSS}}}items"), f"{{{RDF}}}Seq")
    for place, (subject, graph) in enumerate(listed):
        etree.SubElement(sequence, f"{{{RDF}}}li", {f"{{{RDF}}}resource": subject.text})
        element = etree.SubElement(root, f"{{{RSS}}}item", {f"{{{RDF}}}about": subject.text})
        _Writer(graph, f"i{place}n").write(element, subject)
        _complete(element, subject)
    etree.indent(root)
    return etree.tostring(root, xml_declaration=True, encoding="utf-8") + b"\n"


class _Writer:
    """Writes one graph. Blank nodes are nested in the statement that refers to them."""

    def __init__(self, graph: Graph, prefix: str) -> None:
        self._prefix = prefix
        self._stated: dict[Term, list[tuple[Term, Term]]] = {}
        for triple in sorted(graph, key=lambda one: tuple(map(written, one))):
            self._stated.setdefault(triple.subject, []).append((triple.property, triple.object))
        self._written: set[Term] = set()

    def write(self, element: "Element", node: Term) -> None:
        """Write the statements about a node into its element."""
        self._written.add(node)
        for property_, value in self._stated.get(node, ()):
            named = _ELEMENT_NAME.fullmatch(property_.text) if isinstance(property_, Iri) else None
            if named is None or not named[1] or (property_, value) == (TYPE, ITEM):
                continue
            child = etree.SubElement(element, f"{{{named[1]}}}{named[2]}")
            if isinstance(value, Iri):
                child.set(f"{{{RDF}}}resource", value.text)
            elif isinstance(value, Literal):
                _say(child, value)
            elif value in self._written:
                child.set(f"{{{RDF}}}nodeID", self._name(value))
            else:
                inner = etree.SubElement(
                    child, f"{{{RDF}}}Description", {f"{{{RDF}}}nodeID": self._name(value)}
                )
                self.write(inner, value)

    def _name(self, node: Blank) -> str:
        return f"{self._prefix}{node.number}"


def _say(element: "Element", value: Literal) -> None:
    element.text = _cleaned(value.text)
    if value.language:
        element.set(_XML_LANGUAGE, value.language)
    elif value.datatype != STRING:
        element.set(f"{{{RDF}}}datatype", value.datatype)


def _complete(element: "Element", subject: Iri) -> None:
    """Add the elements that RSS 1.0 requires of an item."""
    for property_ in (LINK, TITLE):
        if element.find(f"{{{RSS}}}{property_.text.removeprefix(RSS)}") is None:
            missing = etree.Element(f"{{{RSS}}}{property_.text.removeprefix(RSS)}")
            missing.text = subject.text
            element.insert(0, missing)
    for place, property_ in enumerate((TITLE, LINK, DESCRIPTION)):
        found = element.find(f"{{{RSS}}}{property_.text.removeprefix(RSS)}")
        if found is not None:
            element.insert(place, found)


def _cleaned(text: str) -> str:
    return _NO_XML.sub(_UNKNOWN, text)
