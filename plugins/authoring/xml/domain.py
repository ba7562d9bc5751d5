"""Reads `<domain>`: the unit of a predicate's numbers, and bounds that are compared with the
mission table's.
"""

from typing import TYPE_CHECKING

from knowledge_manager.lookup.lookup import ResolvedAttribute
from plugins.authoring.constants import position
from plugins.authoring.xml.reader import PredicateReader

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def unit_of(element: "Element", named: ResolvedAttribute, reader: PredicateReader) -> str | None:
    """Return the unit of a predicate's numbers, or None if its `<domain>` is invalid, which is reported.

    The unit is that of `<domain>`, else that of the vocabulary or thesaurus in which the attribute has this
    name. Constants and curves are always normalised with the mission table's domain. Other bounds are a
    warning, never another scale.
    """
    domain = element.find(f"{{{reader.document.namespace}}}domain")
    attribute = named.attribute
    own_unit = named.unit if attribute.type == "number" else attribute.unit
    if domain is None:
        return own_unit
    if attribute.type == "nominal":
        message = (
            f"{attribute.name} is nominal: it has listed values, no unit and no bounds; remove the <domain>"
        )
        reader.complain(reader.document.span(domain), "D107", message)
        return None
    unit = (domain.get("unit") or own_unit).strip()
    bounds: dict[str, float] = {}
    for name in ("min", "max"):
        text = domain.get(name)
        if text is not None:
            span = reader.document.attribute_span(domain, name)
            bound = reader.attempt(span, position, text, attribute, unit)
            if bound is None:
                return None
            bounds[name] = bound
    span = reader.document.attribute_span(domain, "unit")
    if not bounds and reader.attempt(span, position, "0", attribute, unit) is None:
        return None
    if "min" in bounds and "max" in bounds and bounds["min"] >= bounds["max"]:
        reader.complain(reader.document.span(domain), "D109", "the domain is empty: min is not below max")
        return None
    step = (attribute.hi - attribute.lo) / 510
    for name, own in (("min", attribute.lo), ("max", attribute.hi)):
        if name in bounds and abs(bounds[name] - own) > step:
            here = f"{name} is {bounds[name]:g} {attribute.unit} here"
            message = f"{here}, {own:g} in the mission table, whose domain is used"
            reader.warn(reader.document.attribute_span(domain, name), "D153", message)
    return unit
