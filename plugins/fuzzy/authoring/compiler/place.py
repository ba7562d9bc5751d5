"""Reads `<within distance of>`: a place, as intervals of the two location attributes of an event."""

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from dens.config.problems import did_you_mean, likely_meant, listed
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.authoring.constants import BadConstant, extent, plain_number
from plugins.authoring.xml.reader import PredicateReader
from plugins.byte_readings import Range
from plugins.fuzzy.authoring.compiler.constraint_specs import ConstraintSpec, Crisp

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def read_within(element: "Element", reader: PredicateReader) -> list[ConstraintSpec]:
    """Return two specs, one per coordinate: the square around the place, which contains the circle."""
    document = reader.document
    event = reader.event
    if event.location is None:
        message = f"event class {event.name} has no location (no `location` in its vocabulary)"
        reader.complain(document.span(element), "D126", message)
        return []
    axes = [event.attribute(name) for name in event.location]
    center = _center(element, reader)
    span = document.attribute_span(element, "distance")
    unit = (element.get("unit") or "").strip()
    distance = str(element.get("distance"))
    reach = [reader.attempt(span, extent, distance, axis, unit or axis.unit) for axis in axes]
    if center is None or None in reach:
        return []
    weight = reader.weight(element)
    specs = []
    for axis, middle, far in zip(axes, center, reach, strict=True):
        if far is None or far < 0:
            reader.complain(span, "D108", "distance is negative")
            return []
        near = _readings_near(axis, middle, far)
        if near is None:
            message = (
                f"the place lies outside the domain of {axis.name}, {axis.lo:g}..{axis.hi:g} {axis.unit}"
            )
            reader.complain(document.attribute_span(element, "of"), "D106", message)
            return []
        shape = Crisp((near,), "within", unit or axis.unit)
        specs.append(ConstraintSpec(axis.index, axis, shape, weight, document.span(element)))
    return specs


def _center(element: "Element", reader: PredicateReader) -> tuple[float, float] | None:
    name = str(element.get("of")).strip()
    places = reader.event.places
    if name in places:
        return places[name]
    parts = name.replace(",", " ").split()
    try:
        x, y = map(plain_number, parts)
    except (BadConstant, ValueError):
        known = listed(list(places)) if places else "none are listed"
        message = f'place "{name}" is unknown ({known}){did_you_mean(name, places)}; or give two coordinates'
        span = reader.document.attribute_span(element, "of")
        reader.complain(span, "D126", message, name, likely_meant(name, places))
        return None
    return x, y


def _readings_near(axis: Attribute, center: float, reach: float) -> Range | None:
    """Return the readings of a coordinate within reach, always including the nearest one; None if all are
    outside the domain.
    """
    scale = 10**axis.decimals
    middle, far = Fraction(repr(center)) * scale, Fraction(repr(reach)) * scale
    if middle + far < axis.lo_scaled or middle - far > axis.hi_scaled:
        return None
    first = min(math.ceil(middle - far), math.floor(middle + Fraction(1, 2)))
    last = max(math.floor(middle + far), first)
    low, high = max(first, axis.lo_scaled), min(last, axis.hi_scaled)
    return (low, high) if low <= high else None
