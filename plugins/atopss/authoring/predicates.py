"""From the elements of a subscription to a function over predicates, in negation normal form.

*Not* is pushed down to the predicates: an *and* in it becomes an *or* of complements. Two crisp predicates on
one attribute under one *and* become their intersection.
"""

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from lxml import etree

from knowledge_manager.vocabulary.event_class import Attribute
from plugins.atopss.authoring.deviations import DISTORTED, deviation
from plugins.atopss.authoring.term_shapes import shape_of
from plugins.atopss.authoring.thresholds import read_threshold
from plugins.atopss.shapes.shapes import ANYTHING, Shape, at_least, at_most, interval, point
from plugins.atopss.subscriptions import Function, Joined, Norm, Predicate
from plugins.authoring.xml.comparisons import compared_constants, nearest_reading
from plugins.authoring.xml.domain import unit_of
from plugins.authoring.xml.reader import PredicateReader
from plugins.authoring.xml.spans import Span
from plugins.authoring.xml.term_sets import AskedTerm, read_term

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

INSIDE_NOT: Final = "D164"
TWICE: Final = "D167"
_THRESHOLDS: Final = ("possibility", "necessity")


@dataclass(slots=True)
class FunctionReader:
    """Reads the function of one document. Errors are reported to the reader."""

    reader: PredicateReader
    norm: Norm
    spans: dict[Predicate, Span] = field(default_factory=dict)
    weights: dict[Span, float] = field(default_factory=dict)
    """The weight of each predicate, by its span."""
    comparisons: set[Predicate] = field(default_factory=set)
    """Predicates that are comparisons, which an *and* intersects."""

    def read(self, root: "Element") -> Function | None:
        """Return the conjunction of all children of the root, or None if nothing is valid."""
        return self._joined(root, is_or=False, is_negated=False)

    def _operand(self, element: "Element", *, is_negated: bool) -> Function | None:
        name = etree.QName(element).localname
        if name == "not":
            return self._joined(element, is_or=False, is_negated=not is_negated)
        if name in ("and", "or"):
            return self._joined(element, is_or=(name == "or") != is_negated, is_negated=is_negated)
        return self._predicate(element, name, is_negated=is_negated)

    def _joined(self, holder: "Element", *, is_or: bool, is_negated: bool) -> Function | None:
        parts = [self._operand(child, is_negated=is_negated) for child in holder]
        present = [part for part in parts if part is not None]
        if not present:
            return None
        if not is_or and not self.norm.is_mean:
            present = self._intersected(present)
        if not is_or:
            self._warn_of_doubles(present)
        return Joined(is_or, tuple(present))

    def _predicate(self, element: "Element", name: str, *, is_negated: bool) -> Function | None:
        reader = self.reader
        named = reader.attribute(element)
        unit = None if named is None else unit_of(element, named, reader)
        thresholds = self._thresholds(element, is_negated=is_negated)
        weight = reader.weight(element)
        if named is None or unit is None:
            return None
        read = _approximate if name == "approximate-predicate" else _crisp
        found = read(element, named.attribute, unit, reader)
        if not found:
            return None
        span = reader.document.span(element)
        self.weights[span] = weight
        leaves = []
        for shape, is_complement in found:
            leaf = Predicate(named.attribute.index, shape, is_complement != is_negated, *thresholds)
            if leaf.shape == ANYTHING and leaf.complement:
                reader.complain(span, "D109", f"no value of {named.attribute.name} can satisfy this")
                return None
            self.spans.setdefault(leaf, span)
            leaves.append(leaf)
        if name == "crisp-predicate" and len(leaves) == 1 and not leaves[0].complement:
            self.comparisons.add(leaves[0])
        return leaves[0] if len(leaves) == 1 else Joined(not is_negated, tuple(leaves))

    def _thresholds(self, element: "Element", *, is_negated: bool) -> tuple[int, int]:
        document = self.reader.document
        given = [name for name in _THRESHOLDS if element.get(name) is not None]
        if given and any(etree.QName(above).localname == "not" for above in element.iterancestors()):
            message = f"{given[0]} of a predicate inside <not> would apply to its complement; use is-not"
            self.reader.complain(document.attribute_span(element, given[0]), INSIDE_NOT, message)
            return 0, 0
        possibility, necessity = (
            read_threshold(element.get(name), name, document.attribute_span(element, name), self.reader)
            for name in _THRESHOLDS
        )
        return possibility, necessity

    def _intersected(self, parts: list[Function]) -> list[Function]:
        """Return the parts of an *and* with comparisons of one attribute intersected."""
        kept: list[Function] = []
        crisp: dict[int, int] = {}
        for part in parts:
            if not isinstance(part, Predicate) or part not in self.comparisons:
                kept.append(part)
                continue
            place = crisp.setdefault(part.attribute, len(kept))
            if place == len(kept):
                kept.append(part)
                continue
            other = kept[place]
            assert isinstance(other, Predicate)
            low, high = max(part.shape.m1, other.shape.m1), min(part.shape.m4, other.shape.m4)
            if low > high:
                attribute = self.reader.event.attribute_at(part.attribute)
                message = f"no reading of {attribute.name} satisfies this and the conditions before it"
                self.reader.complain(self.spans[part], "D109", message)
                continue
            both = Predicate(
                part.attribute,
                interval(low, high),
                complement=False,
                possibility=max(part.possibility, other.possibility),
                necessity=max(part.necessity, other.necessity),
            )
            self.spans.setdefault(both, self.spans[part])
            self.comparisons.add(both)
            kept[place] = both
        return kept

    def _warn_of_doubles(self, parts: list[Function]) -> None:
        seen: set[int] = set()
        for part in parts:
            for predicate in (part,) if isinstance(part, Predicate) else ():
                if predicate.attribute in seen:
                    name = self.reader.event.attribute_at(predicate.attribute).name
                    message = (
                        f"{name} occurs twice under one and; each is evaluated alone, so the possibility "
                        "of both together may be too high; combine both into one set"
                    )
                    self.reader.warn(self.spans[predicate], TWICE, message)
                seen.add(predicate.attribute)


def weighted(function: Function, weights: dict[Predicate, int]) -> Function:
    """Return the function with the weights of its predicates."""
    if isinstance(function, Predicate):
        return replace(function, weight=weights[function])
    return Joined(function.is_or, tuple(weighted(part, weights) for part in function.parts))


def _approximate(
    element: "Element", attribute: Attribute, unit: str, reader: PredicateReader
) -> list[tuple[Shape, bool]]:
    term = read_term(element, attribute, unit, reader)
    if term is None:
        return []
    found = reader.attempt(reader.document.span(element), term_shape, term, attribute, element, reader)
    return [] if found is None else [found]


def term_shape(
    term: AskedTerm, attribute: Attribute, element: "Element", reader: PredicateReader
) -> tuple[Shape, bool]:
    """Return the shape of a term, and whether it is complemented; warn of a distorted one. A curve without a
    shape raises `BadConstant`.
    """
    shape, is_turned = shape_of(term.fuzzifier, term.hedges, attribute)
    distorted = deviation(term.fuzzifier, term.hedges, attribute, shape, is_turned)
    if distorted is not None:
        reader.warn(reader.document.span(element), DISTORTED, distorted.words(attribute))
    return shape, is_turned != term.is_complement


def _crisp(
    element: "Element", attribute: Attribute, unit: str, reader: PredicateReader
) -> list[tuple[Shape, bool]]:
    """Return the shapes of a comparison, any of which suffices."""
    operator = str(element.get("operator")).strip()
    constants = compared_constants(element, operator, attribute, unit, reader)
    if constants is None:
        return []
    found = _compared(operator, [constant - attribute.lo_scaled for constant in constants], attribute)
    if not found:
        message = f'"{operator}" leaves no reading of {attribute.name}: the range is empty'
        reader.complain(reader.document.span(element), "D109", message)
    return found


def _compared(operator: str, constants: list[Fraction], attribute: Attribute) -> list[tuple[Shape, bool]]:
    """Return the readings of a comparison, on the axis. A constant between two readings equals none; `eq` and
    `in` then use the reading that a source would round it to.
    """
    c = constants[0]
    last = attribute.hi_scaled - attribute.lo_scaled
    match operator:
        case "eq":
            return [(point(nearest_reading(c)), False)]
        case "ne":
            return [(point(int(c)), True) if c.denominator == 1 else (ANYTHING, False)]
        case "le":
            return [(at_most(math.floor(c)), False)]
        case "ge":
            return [(at_least(math.ceil(c)), False)]
        case "lt":
            return [(at_most(math.ceil(c) - 1), False)] if math.ceil(c) > 0 else []
        case "gt":
            return [(at_least(math.floor(c) + 1), False)] if math.floor(c) < last else []
        case "between" if c > constants[1] and attribute.type == "time":
            return [(_between(math.floor(constants[1]) + 1, math.ceil(c) - 1), True)]
        case "between":
            low, high = math.ceil(c), math.floor(constants[1])
            return [(_between(low, high), False)] if low <= high else []
        case _:
            return _runs(sorted({nearest_reading(one) for one in constants}))


def _between(low: int, high: int) -> Shape:
    return point(low) if low == high else interval(low, high)


def _runs(readings: list[int]) -> list[tuple[Shape, bool]]:
    """Return listed readings as runs."""
    runs: list[tuple[int, int]] = []
    for reading in readings:
        if runs and reading == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], reading)
        else:
            runs.append((reading, reading))
    return [(_between(low, high), False) for low, high in runs]
