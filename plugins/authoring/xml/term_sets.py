"""Reads `<fuzzy-set>`s and the operators `<is>`, `<is-not>` and `<more-or-less>`: which curve a word names,
and its hedges. The encoding of the curve depends on the language.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from lxml import etree

from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.side_shapes import STRAIGHT
from knowledge_manager.vocabulary.terms import (
    Bell,
    Fuzzifier,
    Gaussian,
    Hedged,
    Lr,
    Points,
    Shoulder,
    Sigmoid,
    Term,
    Trapezoidal,
    Triangular,
    Universal,
    faults,
    misses,
)
from plugins.authoring.constants import (
    BadConstant,
    domain_words,
    extent,
    inverse_extent,
    plain_number,
    position,
)
from plugins.authoring.xml.reader import PredicateReader

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_OPERATORS = ("is", "is-not", "more-or-less")


@dataclass(frozen=True, slots=True)
class AskedTerm:
    """A curve, its hedges in order of application, and whether it is negated."""

    fuzzifier: Fuzzifier
    hedges: tuple[str, ...]
    is_complement: bool


def read_term(
    element: "Element", attribute: Attribute, unit: str, reader: PredicateReader
) -> AskedTerm | None:
    """Return the requested term of an element with sets and one operator, or report what is wrong."""
    terms: dict[str, Term | None] = dict(attribute.terms)
    defined: dict[str, Element] = {}
    for fuzzy_set in element.iterchildren(f"{{{reader.document.namespace}}}fuzzy-set"):
        name = str(fuzzy_set.get("term")).strip()
        if name in defined:
            span = reader.document.attribute_span(fuzzy_set, "term")
            reader.complain(span, "D124", f'term "{name}" is defined twice')
        defined[name] = fuzzy_set
        terms[name] = _read_set(fuzzy_set, attribute, unit, reader)
    operator = next(child for child in element if etree.QName(child).localname in _OPERATORS)
    word = reader.term((operator.text or "").strip(), attribute, defined, operator)
    if word is None:
        return None
    if attribute.type == "nominal" and not isinstance(terms[word], Universal | Lr):
        message = f"{attribute.name} is nominal: use a <crisp-predicate> with eq, ne or in"
        reader.complain(reader.document.attribute_span(element, "attribute"), "D116", message)
        return None
    shape = _resolve(word, terms, attribute, operator, reader)
    if shape is None:
        return None
    fuzzifier, hedges = shape
    kind = etree.QName(operator).localname
    if kind == "more-or-less":
        hedges = (*hedges, "more_or_less")
    return AskedTerm(fuzzifier, hedges, is_complement=kind == "is-not")


def _resolve(
    word: str,
    terms: dict[str, Term | None],
    attribute: Attribute,
    operator: "Element",
    reader: PredicateReader,
) -> tuple[Fuzzifier, tuple[str, ...]] | None:
    """Follow hedged terms to a fuzzifier; return it and the hedges in order of application.

    A term that could not be read is None and was reported already.
    """
    hedges: tuple[str, ...] = ()
    seen = [word]
    term = terms[word]
    while isinstance(term, Hedged):
        hedges = (*hedges, *term.hedges)
        base = reader.term(term.of, attribute, terms, operator, of=seen[-1])
        if base is None:
            return None
        if base in seen:
            span = reader.document.text_span(operator)
            reader.complain(span, "D124", f'term "{seen[-1]}" refers to itself')
            return None
        seen.append(base)
        term = terms[base]
    if term is None:
        return None
    return term, tuple(reversed(hedges))


def _read_set(fuzzy_set: "Element", attribute: Attribute, unit: str, reader: PredicateReader) -> Term | None:
    children = list(fuzzy_set)
    first = children[0]
    kind = etree.QName(first).localname
    if kind == "hedge":
        hedges = tuple(str(child.get("name")).strip() for child in children[:-1])
        return Hedged(hedges, (children[-1].text or "").strip())
    before = len(reader.problems)
    fuzzifier = _FUZZIFIERS[kind](_Parameters(first, attribute, unit, reader))
    if len(reader.problems) > before:
        return None
    for fault in faults(fuzzifier):
        reader.complain(reader.document.span(first), "D108", f"<{kind}>: {fault}")
    if isinstance(fuzzifier, Points) and any(
        math.isinf(b - a) for (a, _), (b, _) in pairwise(fuzzifier.points)
    ):
        message = f"<points>: the distance is too large for a line; stay near {domain_words(attribute)}"
        reader.complain(reader.document.span(first), "D108", message)
    if len(reader.problems) == before and misses(fuzzifier, attribute.lo, attribute.hi):
        message = f"<{kind}> is outside the domain of {attribute.name}, {domain_words(attribute)}"
        reader.complain(
            reader.document.span(first), "D130", f"{message}: no reading can satisfy it; move it inside"
        )
    return fuzzifier if len(reader.problems) == before else None


class _Parameters:
    """The parameters of one fuzzifier. An invalid one is reported and read as 0."""

    def __init__(self, element: "Element", attribute: Attribute, unit: str, reader: PredicateReader) -> None:
        self.element = element
        self.attribute = attribute
        self.unit = unit
        self.reader = reader

    def position(self, name: str) -> float:
        return self._read(name, lambda text: position(text, self.attribute, self.unit))

    def extent(self, name: str) -> float:
        return self._read(name, lambda text: extent(text, self.attribute, self.unit))

    def slope(self, name: str) -> float:
        return self._read(name, lambda text: inverse_extent(text, self.attribute, self.unit))

    def factor(self, name: str) -> float:
        return self._read(name, plain_number)

    def word(self, name: str, absent: str = "") -> str:
        return str(self.element.get(name, absent)).strip()

    def perhaps(self, name: str) -> float | None:
        return None if self.element.get(name) is None else self.position(name)

    def width(self, name: str) -> float:
        return 0.0 if self.element.get(name) is None else self.extent(name)

    def points(self) -> tuple[tuple[float, float], ...]:
        inner = list(self.element)
        each = [_Parameters(child, self.attribute, self.unit, self.reader) for child in inner]
        return tuple((point.position("x"), point.factor("y")) for point in each)

    def _read(self, name: str, read: Callable[[str], float]) -> float:
        try:
            return read(str(self.element.get(name)))
        except BadConstant as error:
            span = self.reader.document.attribute_span(self.element, name)
            self.reader.complain(span, error.code, f"{name}: {error}")
            return 0.0


_FUZZIFIERS: dict[str, Callable[[_Parameters], Fuzzifier]] = {
    "trapezoidal": lambda p: Trapezoidal(p.position("left"), p.position("right"), p.extent("width")),
    "triangular": lambda p: Triangular(p.position("center"), p.extent("width")),
    "gaussian": lambda p: Gaussian(p.position("center"), p.extent("sigma")),
    "bell": lambda p: Bell(p.position("center"), p.extent("width"), p.factor("slope")),
    "sigmoid": lambda p: Sigmoid(p.position("center"), p.slope("slope")),
    "shoulder": lambda p: Shoulder(p.word("side"), p.position("from"), p.position("to")),
    "points": lambda p: Points(p.points()),
    "lr": lambda p: Lr(
        p.perhaps("lower"),
        p.perhaps("upper"),
        p.width("left"),
        p.width("right"),
        p.word("left-shape", STRAIGHT),
        p.word("right-shape", STRAIGHT),
    ),
    "universal": lambda p: Universal(int(p.word("v")), int(p.word("V")), int(p.word("g"))),
}
"""Reader of each fuzzifier element."""
