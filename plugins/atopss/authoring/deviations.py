"""Deviation of a shape from a narrow curve: corners lie on whole steps of the axis."""

from dataclasses import dataclass
from typing import Final

from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.terms import Fuzzifier
from plugins.atopss.shapes.degrees import judged
from plugins.atopss.shapes.scale import INFINITE, TOP
from plugins.atopss.shapes.shapes import Shape, point
from plugins.authoring.output.reading_words import reading_words

DISTORTED: Final = "D170"
TOLERATED: Final = 0.02
"""A difference of degrees that is not reported."""

_WIDE: Final = 100
"""Steps of a side from which rounding its corners changes no degree by more than tolerated."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """A reading, the degree of its curve, and the degree of the shape."""

    reading: int
    wanted: float
    kept: float

    def words(self, attribute: Attribute) -> str:
        """Return the text of the warning."""
        step = f"{10.0**-attribute.decimals:g}" + (f" {attribute.unit}" if attribute.unit else "")
        at = reading_words(self.reading + attribute.lo_scaled, attribute)
        return (
            f"this curve is too narrow for {attribute.name}, whose values have steps of {step}: at {at} its "
            f"degree is {self.kept:.2f} instead of {self.wanted:.2f}; use a wider curve, or corners on whole "
            "steps"
        )


def deviation(
    fuzzifier: Fuzzifier, hedges: tuple[str, ...], attribute: Attribute, shape: Shape, is_turned: bool
) -> Deviation | None:
    """Return the largest difference between a hedged curve and its shape at a reading of the domain; None if
    it is tolerated.
    """
    readings = _readings(shape, attribute.hi_scaled - attribute.lo_scaled)
    if attribute.type == "nominal" or not readings:
        return None
    import numpy as np

    from plugins.curves import fuzzifier_curve, hedged

    values = (np.array(readings, np.float64) + attribute.lo_scaled) / 10**attribute.decimals
    curve = fuzzifier_curve(fuzzifier, values)
    for hedge in hedges:
        curve = hedged(curve, hedge)
    found = [
        Deviation(reading, wanted, judged(shape, point(reading), complement=is_turned)[0] / TOP)
        for reading, wanted in zip(readings, curve.tolist(), strict=True)
    ]
    largest = max(found, key=lambda one: abs(one.wanted - one.kept))
    return largest if abs(largest.wanted - largest.kept) > TOLERATED else None


def _readings(shape: Shape, length: int) -> list[int]:
    """Return the readings on and beside the short sides of a shape."""
    sides = ((shape.m1, shape.m2), (shape.m3, shape.m4))
    found = {
        reading
        for low, high in sides
        if abs(low) != INFINITE and high - low <= _WIDE
        for reading in range(low - 1, high + 2)
    }
    return sorted(reading for reading in found if 0 <= reading <= length)
