"""Implications between constraints of patterns; only certain answers.

A number may be compared with a double, as doubles, or with an exact value, exactly; so a bound must imply the
other one both ways.
"""

from collections.abc import Iterable
from fractions import Fraction

from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.terms import Iri, Term, is_ill_formed
from knowledge_manager.graphs.values import NUMBER, Value, as_double, differs, is_equal, value_of
from plugins.gtopss.pattern import ORDERS, Code, Constant, Constraint, End, Pattern
from plugins.gtopss.statements import TYPE


class Knowledge:
    """Constraints of a pattern on its own nodes."""

    def __init__(self, pattern: Pattern, taxonomy: Taxonomy) -> None:
        self._pattern = pattern
        self._taxonomy = taxonomy
        self._apart = {frozenset(pair) for pair in pattern.differing}
        self._types: dict[End, list[str]] = {}
        for edge in pattern.edges:
            if edge.property == TYPE and isinstance(edge.object, Iri):
                self._types.setdefault(edge.subject, []).append(edge.object.text)

    def implies(self, node: End, code: Code, operand: Constant) -> bool:
        """Return whether a node, a variable or a constant, certainly satisfies a constraint."""
        if isinstance(node, int):
            known = self._pattern.constraints_on(node)
        else:
            known = (Constraint(0, Code.EQ, node),)
        if code in (Code.IS_A, Code.DIRECT, Code.ABOVE):
            assert isinstance(operand, Iri), "a class is an IRI"
            return self._is_kin(node, known, code, operand.text)
        if not isinstance(node, int):
            return _holds(node, code, operand)
        return any(_follows(one, code, operand) for one in known)

    def are_apart(self, one: End, other: End) -> bool:
        """Return whether two nodes certainly differ."""
        if isinstance(one, int) and isinstance(other, int):
            return frozenset((one, other)) in self._apart
        if isinstance(one, int):
            one, other = other, one
        assert not isinstance(one, int), "at most one of them is a variable"
        return differs(one, other) if not isinstance(other, int) else self.implies(other, Code.NE, one)

    def _is_kin(self, node: End, known: Iterable[Constraint], code: Code, wanted: str) -> bool:
        taxonomy = self._taxonomy
        stated = set(self._types.get(node, ()))
        kin: set[str] = set()
        """Classes that are certainly among the node's types, or the node itself."""
        for one in known:
            operand = one.operand
            if not isinstance(operand, Iri):
                continue
            if one.code is Code.EQ:
                kin.add(operand.text)
                stated |= set(taxonomy.types_of(operand.text))
            elif one.code is Code.DIRECT:
                stated.add(operand.text)
            elif one.code is code:
                lower, upper = operand.text, wanted
                if code is Code.ABOVE:
                    lower, upper = upper, lower
                if taxonomy.is_below(lower, upper):
                    return True
        if code is Code.DIRECT:
            return wanted in stated
        if code is Code.IS_A:
            return any(taxonomy.is_below(one, wanted) for one in kin | stated)
        return any(taxonomy.is_below(wanted, one) for one in kin | stated)


def _holds(term: Constant, code: Code, operand: Constant) -> bool:
    if code is Code.EQ:
        return is_equal(term, operand)
    if code is Code.NE:
        return not is_ill_formed(term) and not is_equal(term, operand)
    return _follows(Constraint(0, Code.EQ, term), code, operand)


def _follows(known: Constraint, code: Code, operand: Constant) -> bool:
    """Return whether one constraint on a variable implies another."""
    term = known.operand
    assert not isinstance(term, int), "differs is handled elsewhere"
    if known.code is code and term == operand:
        return True
    if code is Code.EQ:
        return known.code is Code.EQ and _is_same_value(term, operand)
    if code is Code.NE:
        return _excludes(known, operand)
    if code not in ORDERS or (known.code not in ORDERS and known.code is not Code.EQ):
        return False
    is_upper = code in (Code.LT, Code.LE)
    if known.code is not Code.EQ and (known.code in (Code.LT, Code.LE)) != is_upper:
        return False
    is_open, was_open = code in (Code.LT, Code.GT), known.code in (Code.LT, Code.GT)
    return _is_beyond(value_of(term), value_of(operand), is_upper, is_strict=is_open and not was_open)


def _is_same_value(one: Term, other: Term) -> bool:
    first, second = value_of(one), value_of(other)
    same_sort = (
        first is not None
        and second is not None
        and isinstance(first.worth, float) == isinstance(second.worth, float)
    )
    return same_sort and first == second


def _is_beyond(one: Value | None, other: Value | None, is_upper: bool, *, is_strict: bool) -> bool:
    """Return whether a bound is at least as tight as another one, by every way of comparison."""
    if one is None or other is None or one.kind != other.kind:
        return False
    if one.kind != NUMBER:
        return _is_within(one.worth, other.worth, is_upper, is_strict)
    doubles = [
        part if isinstance(part, float) else as_double(_exact(part)) for part in (one.worth, other.worth)
    ]
    if isinstance(one.worth, float) != isinstance(other.worth, float):
        return _is_within(doubles[0], doubles[1], is_upper, True)
    return _is_within(doubles[0], doubles[1], is_upper, is_strict) and _is_within(
        one.worth, other.worth, is_upper, is_strict
    )


def _exact(worth: object) -> Fraction:
    assert isinstance(worth, Fraction), "a number is a double or exact"
    return worth


def _is_within(one: object, other: object, is_upper: bool, is_strict: bool) -> bool:
    less, more = (one, other) if is_upper else (other, one)
    return less < more or (not is_strict and less == more)  # type: ignore[operator]


def _excludes(known: Constraint, operand: Constant) -> bool:
    """Return whether the known constraints exclude that a node is a term, or has its value."""
    term = known.operand
    assert not isinstance(term, int), "differs is handled elsewhere"
    mine, other = value_of(term), value_of(operand)
    if known.code is Code.EQ:
        if is_ill_formed(term) or is_equal(term, operand):
            return False
        if mine is None or other is None or mine.kind != NUMBER or other.kind != NUMBER:
            return True
        return _is_beyond(mine, other, True, is_strict=True) or _is_beyond(mine, other, False, is_strict=True)
    if known.code not in ORDERS or mine is None:
        return False
    if other is None or other.kind != mine.kind:
        return True
    return _is_beyond(
        mine, other, known.code in (Code.LT, Code.LE), is_strict=known.code in (Code.LE, Code.GE)
    )
