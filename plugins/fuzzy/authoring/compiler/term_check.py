"""Checks whether three bytes can express a curve, for subscriptions and for terms of a vocabulary."""

from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.terms import Hedged
from plugins.authoring.output.reading_words import amount_words
from plugins.authoring.xml.spans import Span
from plugins.byte_readings import step_at
from plugins.fuzzy.authoring.compiler.constraint_specs import ConstraintSpec, Curved
from plugins.fuzzy.authoring.compiler.constraints import Constraint, constrain
from plugins.fuzzy.authoring.compiler.fit import REFUSED

_NOWHERE = Span(0, 0, 0, 0, 0, 0)


def curve_fault(constraint: Constraint, tolerance: float = REFUSED) -> str:
    """Return why the bytes of a constraint cannot express the request; empty if they can."""
    if constraint.is_never_met:
        return f"no reading can match{_of_steps(constraint)}"
    if constraint.shift is not None or constraint.deviation <= tolerance:
        return ""
    straying = f"the encoded curve deviates by {constraint.deviation:.3f} from the requested one"
    if 2 * constraint.within_a_step > tolerance:
        return f"{straying}, {tolerance:g} is allowed{_of_steps(constraint)}"
    return f"{straying}, {tolerance:g} is allowed; choose a simpler shape"


def term_fault(attribute: Attribute, name: str) -> str:
    """Return why three bytes cannot express a term of a valid vocabulary; empty if they can."""
    hedges: tuple[str, ...] = ()
    term = attribute.terms[name]
    while isinstance(term, Hedged):
        hedges = (*hedges, *term.hedges)
        term = attribute.terms[term.of]
    shape = Curved(term, tuple(reversed(hedges)), unit=attribute.unit)
    return curve_fault(constrain(ConstraintSpec(attribute.index, attribute, shape, 1.0, _NOWHERE)))


def _of_steps(constraint: Constraint) -> str:
    """Return the step size if a curve is too narrow for it."""
    attribute = constraint.spec.attribute
    if attribute is None or attribute.type == "nominal" or not constraint.within_a_step:
        return ""
    widest = max(step_at(x, attribute) for x in (attribute.lo_scaled, *dict(attribute.breakpoints)))
    narrowest = min(step_at(x, attribute) for x in (attribute.hi_scaled, *dict(attribute.breakpoints)))
    steps = amount_words(widest, attribute)
    if narrowest != widest:
        steps = f"{amount_words(narrowest, attribute)} to {steps}"
    return f": its sides are steeper than the steps of {steps}; make them at least two steps wide"
