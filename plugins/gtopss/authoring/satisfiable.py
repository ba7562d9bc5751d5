"""Detects patterns that no publication can satisfy: conditions on one variable that exclude each other."""

from collections.abc import Sequence

from knowledge_manager.graphs.terms import Literal
from knowledge_manager.graphs.values import Value, is_equal, order, value_of
from plugins.gtopss.pattern import KINSHIPS, ORDERS, Code, Constraint, Edge, Pattern


def contradictions(pattern: Pattern) -> dict[int, str]:
    """Return the variables that cannot have a node, with the reason."""
    found = {}
    for variable in range(pattern.variables):
        asked = pattern.constraints_on(variable)
        reason = _clash(asked) or _no_subject(variable, asked, pattern.edges)
        if reason:
            found[variable] = reason
    return found


def _no_subject(variable: int, asked: Sequence[Constraint], edges: Sequence[Edge]) -> str:
    is_literal = any(
        one.code in ORDERS or (one.code is Code.EQ and isinstance(one.operand, Literal)) for one in asked
    )
    if is_literal and any(edge.subject == variable for edge in edges):
        return "a number, time or text is never the subject of an edge"
    return ""


def _clash(asked: Sequence[Constraint]) -> str:
    orders = [one for one in asked if one.code in ORDERS]
    pinned = [one for one in asked if one.code is Code.EQ]
    if orders and any(one.code in KINSHIPS for one in asked):
        return "a compared value is a literal, which has no class"
    for one in pinned:
        for other in (*asked,):
            if other.code in ORDERS and not holds(one.operand, other):
                return f"it equals a value that is not {other.code.word} another required one"
            if other.code is Code.NE and is_equal(one.operand, other.operand):  # type: ignore[arg-type]
                return "it equals what it must not equal"
            if other.code is Code.EQ and not is_equal(one.operand, other.operand):  # type: ignore[arg-type]
                return "it equals two different things"
    return _empty_range(orders)


def holds(term: object, constraint: Constraint) -> bool:
    """Return whether a constant satisfies a comparison."""
    found = order(value_of(term), value_of(constraint.operand))  # type: ignore[arg-type]
    return (
        found is not None
        and {
            Code.LT: found < 0,
            Code.LE: found <= 0,
            Code.GT: found > 0,
            Code.GE: found >= 0,
        }[constraint.code]
    )


def _empty_range(orders: Sequence[Constraint]) -> str:
    values: list[tuple[Code, Value | None]] = [(one.code, value_of(one.operand)) for one in orders]  # type: ignore[arg-type]
    lows = [(code, value) for code, value in values if code in (Code.GT, Code.GE)]
    highs = [(code, value) for code, value in values if code in (Code.LT, Code.LE)]
    if len({value.kind for _, value in values if value is not None}) > 1:
        return "it is compared with values of two kinds"
    for _, value in values:
        if order(value, value) is None:
            return "a comparison with NaN is never true"
    for low_code, low in lows:
        for high_code, high in highs:
            found = order(low, high)
            is_closed = low_code is Code.GE and high_code is Code.LE
            if found is not None and (found > 0 or (found == 0 and not is_closed)):
                return "the range is empty: its lower bound is above its upper bound"
    return ""
