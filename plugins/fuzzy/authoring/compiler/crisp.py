"""Reads `<crisp-predicate>`: comparisons that hold or do not, as the exact readings for which they hold."""

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from lxml import etree

from knowledge_manager.event_class import Attribute
from plugins.authoring.constants import exact_constant
from plugins.authoring.domain import unit_of
from plugins.authoring.reader import PredicateReader, own_text
from plugins.authoring.spans import Span
from plugins.fuzzy.authoring.compiler.constraint_specs import ConstraintSpec, Crisp
from plugins.fuzzy.authoring.compiler.crisp_bytes import least_triple, passing
from plugins.fuzzy.readings import Range, all_but, byte_of, count, readings_of

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_NOMINAL_OPERATORS = ("eq", "ne", "in")


def read_crisp(element: "Element", reader: PredicateReader) -> list[ConstraintSpec]:
    """Return the spec of a crisp predicate."""
    named = reader.attribute(element)
    unit = None if named is None else unit_of(element, named, reader)
    if named is None or unit is None:
        return []
    attribute = named.attribute
    operator = str(element.get("operator")).strip()
    if attribute.type == "nominal" and operator not in _NOMINAL_OPERATORS:
        span = reader.document.attribute_span(element, "operator")
        message = f'{attribute.name} is nominal, its values have no order: use eq, ne or in, not "{operator}"'
        reader.complain(span, "D116", message)
        return []
    constants = _constants(element, operator, attribute, unit, reader)
    if constants is None:
        return []
    wanted = _wanted(operator, constants, attribute)
    span = reader.document.span(element)
    if not wanted:
        message = f'"{operator}" leaves no reading of {attribute.name}: the range is empty'
        reader.complain(span, "D109", message)
        return []
    if operator == "in" and _is_scattered(wanted, attribute):
        message = (
            f"the values of {attribute.name} are scattered: neither they nor the others stand side by side, "
            "so one interval cannot hold them; write one subscription for each run"
        )
        reader.complain(span, "D115", message)
        return []
    weight = reader.weight(element)
    shape = Crisp(wanted, operator, unit)
    return [ConstraintSpec(attribute.index, attribute, shape, weight, span, str(element.get("attribute")))]


def _constants(
    element: "Element", operator: str, attribute: Attribute, unit: str, reader: PredicateReader
) -> list[Fraction] | None:
    """Return the constants that the operator needs, on the scale of readings, or note what is wrong with
    them.
    """
    document = reader.document
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
    """Return one constant on the scale of readings; a value of a list may be anybody's word for it."""
    word = reader.value(span, text, attribute) if attribute.type == "nominal" else text
    return None if word is None else reader.attempt(span, exact_constant, word, attribute, unit)


def _wanted(operator: str, constants: list[Fraction], attribute: Attribute) -> tuple[Range, ...]:
    """Return the exact readings for which the comparison holds, as rising ranges.

    A constant between two readings (38.256 where readings have two decimals) equals none of them; `eq` and
    `in` then mean the reading that a source would make of it.
    """
    lo, hi = attribute.lo_scaled, attribute.hi_scaled
    c = constants[0]
    same = (_nearest(c), _nearest(c))
    match operator:
        case "eq":
            found = [same]
        case "ne":
            found = all_but([same] if c.denominator == 1 else [], attribute)
        case "le":
            found = [(lo, math.floor(c))]
        case "lt":
            found = [(lo, math.ceil(c) - 1)]
        case "ge":
            found = [(math.ceil(c), hi)]
        case "gt":
            found = [(math.floor(c) + 1, hi)]
        case "between" if c > constants[1] and attribute.type == "time":
            found = [(lo, math.floor(constants[1])), (math.ceil(c), hi)]
        case "between":
            found = [(math.ceil(c), math.floor(constants[1]))]
        case _:
            found = sorted({(_nearest(one), _nearest(one)) for one in constants})
    return _joined([(first, last) for first, last in found if first <= last])


def _joined(ranges: list[Range]) -> tuple[Range, ...]:
    """Return rising ranges with those that touch made one."""
    joined: list[Range] = []
    for first, last in ranges:
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)


def _nearest(constant: Fraction) -> int:
    """Return the reading that a source makes of a number: the nearest, half away from zero."""
    away = math.floor(abs(constant) + Fraction(1, 2))
    return away if constant >= 0 else -away


def _is_scattered(wanted: tuple[Range, ...], attribute: Attribute) -> bool:
    """Tell whether one interval of bytes, or all but one, would hold bytes of which no reading is wanted."""
    needed = {
        byte
        for first, last in wanted
        for byte in range(byte_of(first, attribute), byte_of(last, attribute) + 1)
    }
    asked = sum(count(readings_of(byte, byte, attribute)) for byte in needed)
    return count(passing(least_triple(wanted, attribute), attribute)) > asked
