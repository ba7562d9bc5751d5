"""Reads predicates on one attribute.

`<approximate-predicate>` is a term of the document or the vocabulary, with or without hedges.
`<crisp-predicate>` is a comparison, as the exact readings for which it holds.
"""

from typing import TYPE_CHECKING

from knowledge_manager.vocabulary.event_class import Attribute
from plugins.authoring.xml.compared_readings import compared_readings
from plugins.authoring.xml.comparisons import compared_constants
from plugins.authoring.xml.domain import unit_of
from plugins.authoring.xml.reader import PredicateReader
from plugins.authoring.xml.term_sets import read_term
from plugins.byte_readings import Range, byte_of, count, readings_of
from plugins.fuzzy.authoring.compiler.constraint_specs import ConstraintSpec, Crisp, Curved
from plugins.fuzzy.authoring.compiler.crisp_bytes import least_triple, passing

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def read_approximate(element: "Element", reader: PredicateReader) -> list[ConstraintSpec]:
    named = reader.attribute(element)
    unit = None if named is None else unit_of(element, named, reader)
    if named is None or unit is None:
        return []
    attribute = named.attribute
    term = read_term(element, attribute, unit, reader)
    if term is None:
        return []
    spec = Curved(term.fuzzifier, term.hedges, complement=term.is_complement, unit=unit)
    span = reader.document.span(element)
    weight = reader.weight(element)
    return [ConstraintSpec(attribute.index, attribute, spec, weight, span, str(element.get("attribute")))]


def read_crisp(element: "Element", reader: PredicateReader) -> list[ConstraintSpec]:
    named = reader.attribute(element)
    unit = None if named is None else unit_of(element, named, reader)
    if named is None or unit is None:
        return []
    attribute = named.attribute
    operator = str(element.get("operator")).strip()
    constants = compared_constants(element, operator, attribute, unit, reader)
    if constants is None:
        return []
    wanted = compared_readings(operator, constants, attribute)
    span = reader.document.span(element)
    if not wanted:
        message = f'"{operator}" leaves no reading of {attribute.name}: the range is empty'
        reader.complain(span, "D109", message)
        return []
    if operator == "in" and _is_scattered(wanted, attribute):
        message = (
            f"the values of {attribute.name} are scattered: neither they nor the others are adjacent, "
            "so one interval cannot hold them; write one subscription per run"
        )
        reader.complain(span, "D115", message)
        return []
    weight = reader.weight(element)
    shape = Crisp(wanted, operator, unit)
    return [ConstraintSpec(attribute.index, attribute, shape, weight, span, str(element.get("attribute")))]


def _is_scattered(wanted: tuple[Range, ...], attribute: Attribute) -> bool:
    """Return whether one byte interval, or its complement, would contain bytes without any
    requested reading.
    """
    needed = {
        byte
        for first, last in wanted
        for byte in range(byte_of(first, attribute), byte_of(last, attribute) + 1)
    }
    requested = sum(count(readings_of(byte, byte, attribute)) for byte in needed)
    return count(passing(least_triple(wanted, attribute), attribute)) > requested
