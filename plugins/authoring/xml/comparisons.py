"""Reads the constants of a `<crisp-predicate>`, on the scale of readings. Their encoding depends on the
language.
"""

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from lxml import etree

from knowledge_manager.vocabulary.event_class import Attribute
from plugins.authoring.constants import exact_constant
from plugins.authoring.xml.reader import PredicateReader, own_text
from plugins.authoring.xml.spans import Span

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_NOMINAL_OPERATORS = ("eq", "ne", "in")


def compared_constants(
    element: "Element", operator: str, attribute: Attribute, unit: str, reader: PredicateReader
) -> list[Fraction] | None:
    """Return the constants of an operator, on the scale of readings, or report what is wrong."""
    document = reader.document
    if attribute.type == "nominal" and operator not in _NOMINAL_OPERATORS:
        span = document.attribute_span(element, "operator")
        message = f'{attribute.name} is nominal, its values have no order: use eq, ne or in, not "{operator}"'
        reader.complain(span, "D116", message)
        return None
    children = {
        kind: [child for child in element if etree.QName(child).localname == kind]
        for kind in ("min", "max", "value")
    }
    text = own_text(element)
    if operator == "between":
        holders = children["min"] + children["max"]
        wanted = "<min> and <max>"
    elif operator == "in":
        holders = children["value"]
        wanted = "one or more <value>"
    else:
        holders = []
        wanted = "a constant"
    given = sum(map(len, children.values()))
    misplaced = bool(text) if holders else given > 0 or not text
    if misplaced or given != len(holders) or (operator in ("between", "in") and not holders):
        reader.complain(document.span(element), "D112", f'operator "{operator}" takes {wanted}, nothing else')
        return None
    if not holders:
        places = [(document.text_span(element), text)]
    else:
        places = [(document.text_span(holder), holder.text or "") for holder in holders]
    found = [_constant(span, text, attribute, unit, reader) for span, text in places]
    present = [constant for constant in found if constant is not None]
    return present if len(present) == len(found) else None


def _constant(
    span: Span, text: str, attribute: Attribute, unit: str, reader: PredicateReader
) -> Fraction | None:
    """Return one constant on the scale of readings. A listed value may be a word of the thesaurus."""
    word = reader.value(span, text, attribute) if attribute.type == "nominal" else text
    return None if word is None else reader.attempt(span, exact_constant, word, attribute, unit)


def nearest_reading(constant: Fraction) -> int:
    """Return the reading of a number at a source: the nearest, half away from zero."""
    away = math.floor(abs(constant) + Fraction(1, 2))
    return away if constant >= 0 else -away
