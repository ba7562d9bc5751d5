"""From a publication in XML to its notification."""

from typing import TYPE_CHECKING

from lxml import etree

from dens.config.problems import Problem
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from plugins.atopss.authoring.predicates import term_shape
from plugins.atopss.authoring.schema import SCHEMA
from plugins.atopss.authoring.value_shapes import BAD_VALUE, told_shape, value_shape
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.vectors import encode_notification
from plugins.authoring.xml.compiling import reader_of, refuse_problems
from plugins.authoring.xml.document import read_subscription, read_xml
from plugins.authoring.xml.domain import unit_of
from plugins.authoring.xml.reader import PredicateReader, own_text
from plugins.authoring.xml.root_attributes import read_valid
from plugins.authoring.xml.term_sets import AskedTerm, read_term
from plugins.publications import Publication

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

    from knowledge_manager.vocabulary.event_class import Attribute


class ApproximatePublications:
    """Reads publications. All errors raise one `DocumentError`."""

    def __init__(self, thesaurus: Thesaurus | None = None) -> None:
        self._thesaurus = thesaurus

    def read(self, source: bytes, file: str, table: MissionTable) -> Publication:
        """Return a document as a notification with number 0 and timestamp 0."""
        return self.read_with_warnings(source, file, table)[0]

    def read_with_warnings(
        self, source: bytes, file: str, table: MissionTable
    ) -> tuple[Publication, tuple[Problem, ...]]:
        """Return a document as a notification, and its warnings."""
        document = read_subscription(source, file, SCHEMA, "publication")
        reader = reader_of(document, table, self._thesaurus)
        root = document.root
        valid = read_valid(
            root.get("valid"),
            document.attribute_span(root, "valid"),
            reader,
            reader.event.notification_lifetime_s,
        )
        values: dict[int, Shape] = {}
        for element in root:
            _read_value(element, reader, values)
        refuse_problems(reader)
        notification = Notification(0, valid, 0, reader.event.index, values)
        names = tuple(reader.event.attribute_at(index).name for index in sorted(values))
        found = Publication(encode_notification(notification), reader.event.name, names, valid)
        return found, tuple(sorted(reader.problems))


def is_publication(source: bytes, file: str) -> bool:
    """Return whether a document is a publication. One that cannot be read raises `DocumentError`."""
    return etree.QName(read_xml(source, file).root).localname == "publication"


def _read_value(element: "Element", reader: PredicateReader, values: dict[int, Shape]) -> None:
    named = reader.attribute(element)
    unit = None if named is None else unit_of(element, named, reader)
    if named is None or unit is None:
        return
    attribute = named.attribute
    if attribute.index in values:
        message = f"{attribute.name} has a value already; remove one"
        reader.complain(reader.document.attribute_span(element, "attribute"), "D104", message)
        return
    shape = _shape(element, attribute, unit, reader)
    if shape is not None:
        values[attribute.index] = shape


def _shape(element: "Element", attribute: "Attribute", unit: str, reader: PredicateReader) -> Shape | None:
    document, text = reader.document, own_text(element)
    in_words = any(etree.QName(child).localname in ("is", "more-or-less") for child in element)
    if in_words == bool(text):
        message = "a <value> is either a text (60, 20..45, 38.2±0.3, ?) or an <is>"
        reader.complain(document.span(element), BAD_VALUE, message)
        return None
    if not in_words:
        span = document.text_span(element)
        word = text
        if attribute.type == "nominal" and text != "?":
            found = reader.value(span, text, attribute)
            if found is None:
                return None
            word = found
        return reader.attempt(span, value_shape, word, attribute, unit)
    term = read_term(element, attribute, unit, reader)
    if term is None:
        return None
    return reader.attempt(document.span(element), _value_shape, term, attribute, element, reader)


def _value_shape(
    term: AskedTerm, attribute: "Attribute", element: "Element", reader: PredicateReader
) -> Shape:
    return told_shape(*term_shape(term, attribute, element, reader), attribute.name)
