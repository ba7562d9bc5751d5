"""Reads `<crisp-predicate>`: comparisons that hold or do not, as intervals of bytes."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lxml import etree

from knowledge_manager.event_class import Attribute
from plugins.fuzzy.compiler.constants import byte_of, scaled_constant
from plugins.fuzzy.compiler.domain import unit_of
from plugins.fuzzy.compiler.reader import PredicateReader, own_text
from plugins.fuzzy.compiler.spans import Span
from plugins.fuzzy.compiler.wishes import COMPLEMENT, CRISP, Exact, Wish
from plugins.fuzzy.vectors import Triple

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_NOMINAL_OPERATORS = ("eq", "ne", "in")


def read_crisp(element: "Element", reader: PredicateReader) -> list[Wish]:
    """Return the wish of a crisp predicate."""
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
    triple = _triple(operator, constants, attribute, element, reader)
    if triple is None:
        return []
    span = reader.document.span(element)
    weight = reader.weight(element)
    return [Wish(attribute.index, attribute, Exact(triple), weight, span, str(element.get("attribute")))]


def _constants(
    element: "Element", operator: str, attribute: Attribute, unit: str, reader: PredicateReader
) -> list[int] | None:
    """Return the scaled constants that the operator needs, or note what is wrong with them."""
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
    found = [_scaled(span, text, attribute, unit, reader) for span, text in places]
    present = [scaled for scaled in found if scaled is not None]
    return present if len(present) == len(found) else None


def _scaled(span: Span, text: str, attribute: Attribute, unit: str, reader: PredicateReader) -> int | None:
    """Return one constant on the attribute's scale; a value of a list may be anybody's word for it."""
    word = reader.value(span, text, attribute) if attribute.type == "nominal" else text
    return None if word is None else reader.attempt(span, scaled_constant, word, attribute, unit)


def _triple(
    operator: str, constants: list[int], attribute: Attribute, element: "Element", reader: PredicateReader
) -> Triple | None:
    bytes_ = [byte_of(scaled, attribute) for scaled in constants]
    b = bytes_[0]
    if operator == "in":
        return _run(bytes_, attribute, element, reader)
    if operator == "between":
        backwards = constants[0] > constants[1]
        if backwards and attribute.type == "time":
            return _over_midnight(*bytes_)
        interval = (1, 0, CRISP) if backwards else (bytes_[0], bytes_[1], CRISP)
    else:
        interval = {
            "eq": (b, b, CRISP),
            "ne": (b, b, CRISP | COMPLEMENT),
            "le": (0, b, CRISP),
            "lt": (0, b - 1, CRISP),
            "ge": (b, 255, CRISP),
            "gt": (b + 1, 255, CRISP),
        }[operator]
    v, V, g = interval
    if v > V:
        message = f'"{operator}" leaves no value of {attribute.name}: the range is empty'
        reader.complain(reader.document.span(element), "D109", message)
        return None
    return v, V, g


def _over_midnight(low: int, high: int) -> Triple:
    """Return all but the gap between the end and the begin of a range over midnight."""
    if high + 1 > low - 1:
        return 0, 255, CRISP
    return high + 1, low - 1, CRISP | COMPLEMENT


def _run(
    constants: Iterable[int], attribute: Attribute, element: "Element", reader: PredicateReader
) -> Triple | None:
    """Return the one interval that the constants form, or that everything else forms."""
    wanted = sorted(set(constants))
    domain = range(len(attribute.values)) if attribute.type == "nominal" else range(256)
    if wanted[-1] - wanted[0] + 1 == len(wanted):
        return wanted[0], wanted[-1], CRISP
    rest = [byte for byte in domain if byte not in wanted]
    if rest and rest[-1] - rest[0] + 1 == len(rest):
        return rest[0], rest[-1], CRISP | COMPLEMENT
    message = (
        f"the values of {attribute.name} are scattered: neither they nor the others stand side by side, "
        "so one interval cannot hold them; write one subscription for each run, or a pattern"
    )
    reader.complain(reader.document.span(element), "D115", message)
    return None
