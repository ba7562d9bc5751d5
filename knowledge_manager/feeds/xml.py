"""Accessors for the elements of a feed."""

from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urljoin

from lxml import etree

from knowledge_manager.feeds.item import GEO

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"
_LANGUAGE: Final = "{http://www.w3.org/XML/1998/namespace}lang"

UNREAD: Final = frozenset(
    (
        "http://purl.org/rss/1.0/modules/content/",
        "http://www.w3.org/1999/xhtml",
        "http://www.georss.org/georss",
        "http://www.opengis.net/gml",
        GEO,
    )
)
"""Namespaces of bodies, which are not published, and of positions, which `places` reads."""


def local_name(element: "Element") -> str:
    return etree.QName(element).localname


def namespace_of(element: "Element") -> str:
    """Return an element's namespace, or nothing."""
    return etree.QName(element).namespace or ""


def line_of(element: "Element") -> int:
    """Return the line of an element, 1 if it is unknown."""
    return cast("int | None", element.sourceline) or 1


def markup(element: "Element | None") -> str:
    """Return the text of an element, including that of nested elements."""
    return "" if element is None else "".join(map(str, element.itertext()))


def text_of(element: "Element | None") -> str:
    """Return the text of an element, stripped."""
    return markup(element).strip()


def own_language(element: "Element") -> str:
    """Return the `xml:lang` of the element itself."""
    return (element.get(_LANGUAGE) or "").strip()


def language_of(element: "Element | None") -> str:
    """Return the language of an element: its own, or the nearest enclosing one."""
    while element is not None:
        if tag := own_language(element):
            return tag
        element = element.getparent()
    return ""


def resolved(element: "Element", address: str) -> str:
    """Return an address resolved against the `xml:base` of the enclosing elements."""
    base = element.base
    if not address or not base:
        return address
    try:
        return urljoin(base, address)
    except ValueError:
        return address
