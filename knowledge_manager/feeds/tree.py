"""Parses the XML of a feed safely.

No entity is expanded, no DTD loaded, nothing fetched, no huge tree built. A DOCTYPE (RSS 0.91 has one) is
accepted but its declarations are ignored: references stay as written, except for HTML character entities such
as `&nbsp;`.
"""

from html.entities import html5
from typing import TYPE_CHECKING, Final

from lxml import etree

from dens.config.problems import DocumentError, Problem
from dens.config.reading import refuse_large
from knowledge_manager.xml_parser import parse_xml

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

LARGEST_FEED: Final = 16 * 1024 * 1024

_OF_ENCODING: Final = frozenset(
    (
        etree.ErrorTypes.ERR_INVALID_ENCODING,
        etree.ErrorTypes.ERR_UNKNOWN_ENCODING,
        etree.ErrorTypes.ERR_UNSUPPORTED_ENCODING,
        etree.ErrorTypes.I18N_CONV_FAILED,
        etree.ErrorTypes.I18N_NO_HANDLER,
    )
)


def feed_tree(source: bytes, file: str) -> "Element":
    """Return the root element; malformed, wrongly encoded or oversized input raises `DocumentError`."""
    refuse_large(source, file, LARGEST_FEED)
    try:
        root = parse_xml(source)
    except etree.XMLSyntaxError as error:
        raise DocumentError([_problem(error, file)]) from None
    _write_references_out(root)
    return root


def _problem(error: etree.XMLSyntaxError, file: str) -> Problem:
    line, column = error.position
    text = (error.msg or "unreadable").removesuffix(f", line {line}, column {column}")
    reason = " ".join(text.split()).rstrip(" ,.")
    place = (max(line or 1, 1), max(column or 1, 1))
    if getattr(error, "code", 0) in _OF_ENCODING:  # the stubs do not know it
        message = f"the feed is not in its declared encoding: {reason}; save it as UTF-8"
        return Problem(file, *place, "error", "D526", message)
    message = f"the feed is incomplete or not XML: {reason}; fix it at its source"
    return Problem(file, *place, "error", "D525", message)


def _write_references_out(root: "Element") -> None:
    """Replace entity references, which are nodes of the tree, by text."""
    for reference in list(root.iter(etree.Entity)):
        parent = reference.getparent()
        assert parent is not None, "a reference stands in an element"
        written = str(reference.text or "")
        text = html5.get(written.removeprefix("&"), written) + (reference.tail or "")
        before = reference.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + text
        else:
            parent.text = (parent.text or "") + text
        reference.tail = None
        parent.remove(reference)
