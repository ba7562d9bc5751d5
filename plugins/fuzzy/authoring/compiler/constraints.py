"""Fitted constraints: the three bytes per attribute, and their deviation from the request.

Requested and encoded curves are compared over exact readings, not over bytes: a curve that changes within one
byte deviates there, even if the middles of the bytes are exact.
"""

import math
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.terms import Universal
from plugins.board_vectors import Triple
from plugins.byte_readings import Range, byte_of, count, first_reading, last_reading
from plugins.curves import (
    Curve,
    corners,
    degrees,
    domain_values,
    fuzzifier_curve,
    hedged,
)
from plugins.fuzzy.authoring.compiler.constraint_specs import (
    COMPLEMENT,
    CRISP,
    ConstraintSpec,
    Crisp,
    Curved,
    Exact,
)
from plugins.fuzzy.authoring.compiler.crisp_bytes import (
    Shift,
    least_triple,
    opposite,
    shift_of,
    vertical_sides,
)
from plugins.fuzzy.authoring.compiler.fit import fit


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """The constraint of one attribute: the spec, its bytes, and the requested curve.

    `deviation` is, for a curve, the largest difference of degrees over all exact readings, and for a crisp
    set the shift of a bound as a share of the domain (`shift` describes it). `within_a_step` is the
    unavoidable part: half of the change within one step. `doubt` is the deviation without that part, and for
    a hedged term that of the term without hedges: the cost of hedges is documented and not worth a warning
    each time.
    """

    spec: ConstraintSpec
    triple: Triple
    deviation: float
    wanted: Curve
    shift: Shift | None = None
    doubt: float = 0.0
    within_a_step: float = 0.0

    @property
    def index(self) -> int:
        return self.spec.index

    @property
    def attribute(self) -> str:
        return self.spec.name

    @property
    def encoded(self) -> Curve:
        """Return the curve of the three bytes."""
        return degrees(*self.triple)

    @property
    def is_never_met(self) -> bool:
        """Return whether every reading has degree 0, or inside a `not` degree 1."""
        satisfied = self.encoded < 1 if self.spec.is_negated else self.encoded > 0
        attribute = self.spec.attribute
        if attribute is None:
            return not satisfied.any()
        return not any(
            first_reading(byte, attribute) <= last_reading(byte, attribute)
            for byte in np.flatnonzero(satisfied).tolist()
        )

    def as_document(self) -> dict[str, Any]:
        v, V, g = self.triple
        return {
            "attribute": self.attribute,
            "index": self.index,
            "v": v,
            "V": V,
            "g": g,
            "deviation": self.deviation,
            "shift": None if self.shift is None else self.shift.as_document(),
            "wanted": [round(degree, 6) for degree in self.wanted.tolist()],
        }


def constrain(spec: ConstraintSpec) -> Constraint:
    """Return the constraint of a spec. Exact bytes are unchanged, readings get the smallest interval that
    contains them, a curve is fitted.

    `is-not` is the fitted term with the complement bit, so that a term and its negation always add up to 1. A
    curve with vertical sides is a set of readings.
    """
    shape, attribute = spec.shape, spec.attribute
    if isinstance(shape, Curved) and attribute is not None:
        shape = vertical_sides(shape, attribute) or shape
    if isinstance(shape, Exact):
        return Constraint(spec, shape.triple, 0.0, degrees(*shape.triple))
    if isinstance(shape, Crisp):
        if attribute is None:
            raise ValueError("an age is given by its bytes")
        return _crisp(spec, shape, attribute)
    v, V, g, deviation, within = _fitted(shape, attribute)
    doubt = deviation - within
    if shape.hedges:
        *_, of_the_term, of_its_steps = _fitted(Curved(shape.fuzzifier), attribute)
        doubt = min(doubt, of_the_term - of_its_steps)
    if shape.complement:
        g ^= COMPLEMENT
    return Constraint(spec, (v, V, g), deviation, _wanted_curve(shape, attribute), None, doubt, within)


def _wanted_curve(shape: Curved, attribute: Attribute | None) -> Curve:
    """Return the requested curve over the bytes, including hedges and complement."""
    curve = _curve_at(shape, domain_values(attribute))
    return 1.0 - curve if shape.complement else curve


def _curve_at(shape: Curved, x: Curve) -> Curve:
    """Return the degrees of a term with its hedges at the values x, before `is-not`."""
    curve = fuzzifier_curve(shape.fuzzifier, x)
    for hedge in shape.hedges:
        curve = hedged(curve, hedge)
    return curve


def _crisp(spec: ConstraintSpec, shape: Crisp, attribute: Attribute) -> Constraint:
    if not shape.wanted:
        nothing = (0, 255, CRISP | COMPLEMENT)
        return Constraint(spec, nothing, 0.0, degrees(*nothing))
    crisp = opposite(shape, attribute) if spec.is_negated else shape
    if crisp.wanted:
        triple = least_triple(crisp.wanted, attribute)
        shift = shift_of(crisp, triple, attribute)
    else:
        triple, shift = (0, 255, CRISP | COMPLEMENT), None
    if spec.is_negated:
        triple = (*triple[:2], triple[2] ^ COMPLEMENT)
    moved = 0.0 if shift is None else shift.moved
    return Constraint(spec, triple, moved, _shares(shape.wanted, triple, attribute), shift)


def _shares(wanted: tuple[Range, ...], triple: Triple, attribute: Attribute) -> Curve:
    """Return, for each byte, the share of its readings that is requested; for a byte without readings, the
    encoded degree.
    """
    curve = degrees(*triple).copy()
    for byte in range(256):
        first, last = first_reading(byte, attribute), last_reading(byte, attribute)
        if first <= last:
            hits = [
                (max(first, low), min(last, high)) for low, high in wanted if low <= last and high >= first
            ]
            curve[byte] = count(hits) / (last - first + 1)
    return curve


def _fitted(shape: Curved, attribute: Attribute | None) -> tuple[int, int, int, float, float]:
    """Return the bytes of a curve before `is-not`, their deviation, and its unavoidable part."""
    if isinstance(shape.fuzzifier, Universal) and not shape.hedges:
        return shape.fuzzifier.v, shape.fuzzifier.V, shape.fuzzifier.g, 0.0, 0.0
    found = fit(_curve_at(shape, domain_values(attribute)))
    if isinstance(shape.fuzzifier, Universal) or attribute is None:
        return (*found.triple, found.deviation, 0.0)
    readings = np.array(_telling_readings(shape, attribute))
    bytes_ = np.array([byte_of(reading, attribute) for reading in readings.tolist()])
    wanted = _curve_at(shape, readings / 10**attribute.decimals)
    strayed = float(np.abs(wanted - degrees(*found.triple)[bytes_]).max())
    highest, lowest = np.zeros(256), np.ones(256)
    np.maximum.at(highest, bytes_, wanted)
    np.minimum.at(lowest, bytes_, wanted)
    return (*found.triple, strayed, max(0.0, float((highest - lowest).max()) / 2))


def _telling_readings(shape: Curved, attribute: Attribute) -> list[int]:
    """Return the readings among which the largest deviation is found: the first and last of every byte, and
    those around every corner of the curve, because the curve is monotonic in between.
    """
    lo, hi = attribute.lo_scaled, attribute.hi_scaled
    ends = ((first_reading(byte, attribute), last_reading(byte, attribute)) for byte in range(256))
    scaled = (corner * 10**attribute.decimals for corner in corners(shape.fuzzifier))
    around = (
        reading
        for place in scaled
        if lo - 1 <= place <= hi + 1
        for reading in (math.floor(place), math.floor(place) + 1)
    )
    found = {*chain.from_iterable((first, last) for first, last in ends if first <= last), *around}
    return sorted(reading for reading in found if lo <= reading <= hi)
