"""Terms of vocabularies as drawn by the fuzzy language, and as encoded in three bytes."""

from fractions import Fraction
from typing import Any

from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.terms import Hedged
from plugins.authoring.terms import Curve, FittedTerm
from plugins.byte_readings import middle
from plugins.curves import degrees, domain_values, fuzzifier_curve, hedged
from plugins.fuzzy.authoring.compiler.constraint_specs import CRISP
from plugins.fuzzy.authoring.compiler.fit import fit_plain
from plugins.fuzzy.authoring.compiler.term_check import term_fault
from watchdog.membership import SLOPES


class FuzzyTerms:
    def fault(self, attribute: Attribute, name: str) -> str:
        """Return why three bytes cannot express a term of a valid vocabulary; empty if they can."""
        return term_fault(attribute, name)

    def values(self, attribute: Attribute) -> Curve:
        return domain_values(attribute)

    def curve(self, attribute: Attribute, name: str) -> Curve:
        term = attribute.terms[name]
        if isinstance(term, Hedged):
            curve = self.curve(attribute, term.of)
            for hedge in reversed(term.hedges):
                curve = hedged(curve, hedge)
            return curve
        return fuzzifier_curve(term, domain_values(attribute))

    def fitted(self, wanted: Curve, attribute: Attribute) -> FittedTerm:
        """Return the term of three bytes nearest to the curve. It is never complemented, because vocabularies
        have no negation.
        """
        found = fit_plain(wanted)
        v, V, c = found.triple
        return FittedTerm(written(v, V, c, attribute), degrees(v, V, c), found.deviation)


def written(v: int, V: int, c: int, attribute: Attribute) -> dict[str, Any]:
    """Return the form of three bytes in a vocabulary, in the attribute's unit: a shoulder or a trapezoid, and
    points if the scale is not linear.
    """
    if attribute.breakpoints:
        return _written_on_a_scale(v, V, c, attribute)
    scale = (attribute.hi - attribute.lo) / 255
    width = 0.0 if c == CRISP else 255 * 256 / SLOPES[c] * scale
    left, right = attribute.lo + v * scale, attribute.lo + V * scale

    def number(value: float) -> float:
        return round(value, max(attribute.decimals, 1))

    if v == 0 and V < 255:
        return {"shoulder": {"side": "left", "from": number(right), "to": number(right + width)}}
    if V == 255 and v > 0:
        return {"shoulder": {"side": "right", "from": number(left - width), "to": number(left)}}
    return {"trapezoidal": {"left": number(left), "right": number(right), "width": number(width)}}


def _written_on_a_scale(v: int, V: int, c: int, attribute: Attribute) -> dict[str, Any]:
    """Return the points of the curve: its corners, the ends of the domain, and the breakpoints of
    the scale.
    """
    width = Fraction(1) if c == CRISP else Fraction(255 * 256, SLOPES[c])
    bends = [byte for _, byte in attribute.breakpoints]
    whole = [Fraction(byte) for byte in (0, 255, v, V, *bends)]
    places = sorted({byte for byte in (*whole, v - width, V + width) if 0 <= byte <= 255})
    found: dict[float, float] = {}
    for byte in places:
        value = round(float(middle(byte, attribute)), max(attribute.decimals, 1))
        outside = max(v - byte, byte - V, Fraction(0))
        found.setdefault(value, round(max(0.0, float(1 - outside / width)), 6))
    return {"points": [[value, degree] for value, degree in found.items()]}
