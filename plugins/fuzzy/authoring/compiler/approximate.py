"""Reads `<approximate-predicate>`: a term of the document or the vocabulary, with or without hedges."""

from typing import TYPE_CHECKING

from plugins.authoring.xml.domain import unit_of
from plugins.authoring.xml.reader import PredicateReader
from plugins.authoring.xml.term_sets import read_term
from plugins.fuzzy.authoring.compiler.constraint_specs import ConstraintSpec, Curved

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def read_approximate(element: "Element", reader: PredicateReader) -> list[ConstraintSpec]:
    named = reader.attribute(element)
    unit = None if named is None else unit_of(element, named, reader)
    if named is None or unit is None:
        return []
    attribute = named.attribute
    asked = read_term(element, attribute, unit, reader)
    if asked is None:
        return []
    spec = Curved(asked.fuzzifier, asked.hedges, complement=asked.is_complement, unit=unit)
    span = reader.document.span(element)
    weight = reader.weight(element)
    return [ConstraintSpec(attribute.index, attribute, spec, weight, span, str(element.get("attribute")))]
