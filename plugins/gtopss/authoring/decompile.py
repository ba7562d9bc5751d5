"""From a vector back to a document in XML that compiles to the same vector."""

from lxml import etree

from knowledge_manager.graphs.dictionary import Dictionary
from knowledge_manager.graphs.terms import LANGUAGE_STRING, XSD, Iri, Literal
from knowledge_manager.mission_table import MissionTable
from plugins.gtopss import NAMESPACE
from plugins.gtopss.authoring.words import usual_names
from plugins.gtopss.pattern import End, Pattern, in_order_of_appearance
from plugins.gtopss.vectors import decode_pattern
from watchdog.header import BODY_AT, HEADER_LIFETIME, body_of
from watchdog.vector import VectorError


def decompile(vector: bytes, table: MissionTable) -> str:
    """Return the document. Bytes that are not a pattern, or texts that XML cannot contain, raise
    `VectorError`.
    """
    pattern = decode_pattern(body_of(vector), table.dictionary)
    try:
        return _document(pattern, table.dictionary, vector[HEADER_LIFETIME])
    except ValueError:
        raise VectorError(BODY_AT, "a text contains a character that XML does not allow") from None


def _document(pattern: Pattern, dictionary: Dictionary, lifetime_q: int) -> str:
    names = usual_names(pattern)
    root = etree.Element(f"{{{NAMESPACE}}}subscription", nsmap={None: NAMESPACE})  # type: ignore[dict-item]
    root.set("valid", f"code:{lifetime_q}")
    edges = in_order_of_appearance(pattern)
    assert edges is not None, "a decoded pattern has such an order"
    for edge in edges:
        element = etree.SubElement(root, f"{{{NAMESPACE}}}edge")
        element.set("subject", _end(edge.subject, names, dictionary))
        element.set("property", dictionary.shortened(edge.property.text))
        element.set("object", _end(edge.object, names, dictionary))
        _say_kind(element, edge.object)
    for one in pattern.constraints:
        element = etree.SubElement(root, f"{{{NAMESPACE}}}where")
        element.set("variable", f"?{names[one.variable]}")
        element.set("operator", one.code.word)
        element.text = _end(one.operand, names, dictionary)
        _say_kind(element, one.operand)
    etree.indent(root)
    return etree.tostring(root, encoding="unicode") + "\n"


def _end(end: End, names: list[str], dictionary: Dictionary) -> str:
    if isinstance(end, int):
        return f"?{names[end]}"
    return dictionary.shortened(end.text) if isinstance(end, Iri) else end.text


def _say_kind(element: "etree._Element", end: End) -> None:
    if not isinstance(end, Literal):
        return
    if end.datatype == LANGUAGE_STRING:
        element.set("language", end.language)
    else:
        is_known = end.datatype.startswith(XSD)
        element.set("datatype", f"xsd:{end.datatype.removeprefix(XSD)}" if is_known else f"<{end.datatype}>")
