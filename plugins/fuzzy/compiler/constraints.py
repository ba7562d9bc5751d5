"""Wishes that got their three bytes: what a vector carries for each attribute, and how true that is to the
wish.
"""

from dataclasses import dataclass

from knowledge_manager.terms import Universal
from plugins.fuzzy.compiler.curves import Curve, degrees, plain_curve, wanted_curve
from plugins.fuzzy.compiler.fit import fit
from plugins.fuzzy.compiler.wishes import COMPLEMENT, Curved, Exact, Wish
from plugins.fuzzy.vectors import Triple


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """One attribute's constraint: the wish, its bytes, and the curve that was wanted."""

    wish: Wish
    triple: Triple
    deviation: float
    wanted: Curve

    @property
    def index(self) -> int:
        """Return the attribute's index."""
        return self.wish.index

    @property
    def attribute(self) -> str:
        """Return what the attribute is called."""
        return self.wish.name

    @property
    def encoded(self) -> Curve:
        """Return the curve that the three bytes stand for."""
        return degrees(*self.triple)


def constrain(wish: Wish) -> Constraint:
    """Return the constraint of a wish. Exact bytes stay as they are; a curve is fitted.

    `is-not` is the fitted term with the complement bit, so that a term and its opposite always add up to 1.
    """
    wanted = wanted_curve(wish)
    if isinstance(wish.shape, Exact):
        return Constraint(wish, wish.shape.triple, 0.0, wanted)
    v, V, g, deviation = _fitted(wish.shape, wish)
    if wish.shape.complement:
        g ^= COMPLEMENT
    return Constraint(wish, (v, V, g), deviation, wanted)


def _fitted(shape: Curved, wish: Wish) -> tuple[int, int, int, float]:
    if isinstance(shape.fuzzifier, Universal) and not shape.hedges:
        return shape.fuzzifier.v, shape.fuzzifier.V, shape.fuzzifier.g, 0.0
    found = fit(plain_curve(shape, wish.attribute))
    return (*found.triple, found.deviation)
