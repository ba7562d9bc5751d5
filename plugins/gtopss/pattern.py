"""A subscription: required edges, with variables for any node, and constraints on variables.

Variables are numbers from 0, in the order of first occurrence. Constants are terms.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from knowledge_manager.graphs.terms import Iri, Literal

MOST_EDGES: Final = 64
MOST_VARIABLES: Final = 15
MOST_CONSTRAINTS: Final = 64

Constant = Iri | Literal
End = int | Iri | Literal
"""A variable's number, or a constant."""


class Code(IntEnum):
    """Kinds of constraints. 6 and 12 to 15 are unused."""

    EQ = 0
    NE = 1
    LT = 2
    LE = 3
    GT = 4
    GE = 5
    IS_A = 8
    DIRECT = 9
    ABOVE = 10
    DIFFERS = 11

    @property
    def word(self) -> str:
        return self.name.lower().replace("_", "-")


ORDERS: Final = frozenset({Code.LT, Code.LE, Code.GT, Code.GE})
KINSHIPS: Final = frozenset({Code.IS_A, Code.DIRECT, Code.ABOVE})


class Edge(NamedTuple):
    """One required statement."""

    subject: End
    property: Iri
    object: End

    def variables(self) -> tuple[int, ...]:
        """Return the variables at its ends, the subject's first."""
        one, other = self.subject, self.object
        if isinstance(one, int):
            return (one, other) if isinstance(other, int) else (one,)
        return (other,) if isinstance(other, int) else ()


class Constraint(NamedTuple):
    """A constraint on a variable's node. The operand of `differs` is a variable, all others are constants."""

    variable: int
    code: Code
    operand: End


@dataclass(frozen=True, slots=True)
class Pattern:
    """Edges and constraints, each once. Equal patterns may have them in different order."""

    variables: int
    edges: tuple[Edge, ...]
    constraints: tuple[Constraint, ...] = ()

    def constraints_on(self, variable: int) -> tuple[Constraint, ...]:
        """Return the constraints on a variable's node alone."""
        return tuple(
            one for one in self.constraints if one.variable == variable and one.code is not Code.DIFFERS
        )

    @property
    def differing(self) -> tuple[tuple[int, int], ...]:
        """Return the pairs of variables whose nodes must differ."""
        return tuple(
            (one.variable, one.operand)
            for one in self.constraints
            if one.code is Code.DIFFERS and isinstance(one.operand, int)
        )


def in_order_of_appearance(pattern: Pattern) -> tuple[Edge, ...] | None:
    """Return the edges in an order in which variables occur by rising number, or None if there is none."""
    waiting, found, seen = list(pattern.edges), list[Edge](), 0
    while waiting:
        for edge in waiting:
            fresh = list(dict.fromkeys(one for one in edge.variables() if one >= seen))
            if fresh == list(range(seen, seen + len(fresh))):
                found.append(edge)
                waiting.remove(edge)
                seen += len(fresh)
                break
        else:
            return None
    return tuple(found)


def renumbered(pattern: Pattern) -> Pattern:
    """Return the pattern with its variables numbered by first occurrence, as the encoding requires."""
    numbers: dict[int, int] = {}
    for edge in pattern.edges:
        for variable in edge.variables():
            numbers.setdefault(variable, len(numbers))

    def end(one: End) -> End:
        return numbers[one] if isinstance(one, int) else one

    edges = tuple(Edge(end(edge.subject), edge.property, end(edge.object)) for edge in pattern.edges)
    asked = []
    for one in pattern.constraints:
        variable, operand = numbers[one.variable], end(one.operand)
        if one.code is Code.DIFFERS and isinstance(operand, int):
            variable, operand = sorted((variable, operand))
        asked.append(Constraint(variable, one.code, operand))
    return Pattern(pattern.variables, edges, tuple(asked))


def parts_of(pattern: Pattern) -> Iterator[frozenset[Edge]]:
    """Yield the connected parts: edges that share a variable or a constant end."""
    left = list(pattern.edges)
    while left:
        part, ends = {left.pop(0)}, set[End]()
        grown = True
        while grown:
            ends = {end for edge in part for end in (edge.subject, edge.object)}
            near = [edge for edge in left if edge.subject in ends or edge.object in ends]
            grown = bool(near)
            part.update(near)
            left = [edge for edge in left if edge not in part]
        yield frozenset(part)
