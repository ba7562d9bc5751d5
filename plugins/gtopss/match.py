"""When a publication matches a pattern: variables are replaced by nodes so that every edge becomes a
statement and every constraint holds; two variables may meet in one node (a homomorphism).

*Candidates* of a variable are its arc-consistent nodes: each satisfies its own constraints and has, along
every edge and every `differs`, a candidate at the other end; they are a unique fixpoint. Where the pattern
has no rings, candidates for all mean a match. Where it has, the nodes of the cut variables are tried one
after the other. If that could take more than `MOST_STEPS`, the pair is *undecided*, by definition and for
every algorithm: it counts as matched, with the lowest degree there is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import islice, product
from typing import Final

from knowledge_manager.graphs.terms import Term
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.rings import cut_variables
from plugins.gtopss.statements import Statements

MOST_STEPS: Final = 1 << 28
"""Edges with a variable × statements × candidates of the cut variables, multiplied."""

MOST_BINDINGS: Final = 16

FULLY: Final = 255
BARELY: Final = 1
"""The degree of an undecided pair: what is short of room drops it first."""
UNDECIDED_DETAIL: Final = b"\x01"

Candidates = list[set[int]]


class Verdict(Enum):
    """What becomes of a publication and a pattern."""

    MATCHED = "matched"
    UNDECIDED = "undecided"
    NOT = "not matched"


@dataclass(frozen=True, slots=True)
class Bindings:
    """For each way in which a publication matches, the nodes of the variables in their order."""

    rows: tuple[tuple[Term, ...], ...]
    has_more: bool = False


def steps(pattern: Pattern, statements: Statements, candidates: Candidates) -> int:
    """Return how many steps the rings of a pattern could take."""
    found = sum(1 for edge in pattern.edges if edge.variables()) * statements.size
    for variable in cut_variables(pattern):
        found *= len(candidates[variable])
    return found


def judge(pattern: Pattern, statements: Statements) -> Verdict:
    """Return what becomes of a pattern."""
    candidates = first_candidates(pattern, statements)
    if candidates is None:
        return Verdict.NOT
    if steps(pattern, statements, candidates) > MOST_STEPS:
        return Verdict.UNDECIDED
    return Verdict.MATCHED if _is_solvable(pattern, statements, candidates) else Verdict.NOT


def bindings(pattern: Pattern, statements: Statements) -> Bindings:
    """Return the first ways in which a publication matches, ascending by the N-Triples texts of the nodes;
    none of an undecided pair.
    """
    candidates = first_candidates(pattern, statements)
    if candidates is None or steps(pattern, statements, candidates) > MOST_STEPS:
        return Bindings(())
    found = list(islice(_solutions(pattern, statements, candidates, 0), MOST_BINDINGS + 1))
    rows = [tuple(statements.nodes[node] for node in nodes) for nodes in found[:MOST_BINDINGS]]
    return Bindings(tuple(rows), len(found) > MOST_BINDINGS)


def first_candidates(pattern: Pattern, statements: Statements) -> Candidates | None:
    """Return the candidates of all variables, None where some edge or variable has none."""
    found: Candidates = [set(range(len(statements.nodes))) for _ in range(pattern.variables)]
    for edge in pattern.edges:
        pairs = statements.by_property.get(edge.property, [])
        if not edge.variables():
            ends = (statements.number_of.get(edge.subject), statements.number_of.get(edge.object))  # type: ignore[arg-type]
            if ends not in pairs:
                return None
        elif isinstance(edge.subject, int) and isinstance(edge.object, int):
            if edge.subject == edge.object:
                found[edge.subject] &= {one for one, other in pairs if one == other}
        elif isinstance(edge.subject, int):
            end = statements.number_of.get(edge.object)  # type: ignore[arg-type]
            found[edge.subject] &= {one for one, other in pairs if other == end}
        elif isinstance(edge.object, int):
            end = statements.number_of.get(edge.subject)
            found[edge.object] &= {other for one, other in pairs if one == end}
    for variable in range(pattern.variables):
        found[variable] = statements.passing(pattern.constraints_on(variable), found[variable])
    return found if is_consistent(pattern, statements, found) else None


def is_consistent(pattern: Pattern, statements: Statements, candidates: Candidates) -> bool:
    """Take away what has no support at the other end of some edge, again and again; say whether every
    variable keeps a candidate.
    """
    changed = True
    while changed:
        changed = False
        for edge in pattern.edges:
            one, other = edge.subject, edge.object
            if isinstance(one, int) and isinstance(other, int) and one != other:
                pairs = [
                    pair
                    for pair in statements.by_property.get(edge.property, ())
                    if pair[0] in candidates[one] and pair[1] in candidates[other]
                ]
                changed |= _kept(candidates, one, {pair[0] for pair in pairs})
                changed |= _kept(candidates, other, {pair[1] for pair in pairs})
        for one, other in pattern.differing:
            for a, b in ((one, other), (other, one)):
                lasting = {
                    node
                    for node in candidates[a]
                    if any(statements.differ(node, against) for against in candidates[b])
                }
                changed |= _kept(candidates, a, lasting)
        if not all(candidates):
            return False
    return all(candidates)


def _kept(candidates: Candidates, variable: int, lasting: set[int]) -> bool:
    """Keep these candidates alone; say whether that changes anything."""
    is_less = len(lasting) < len(candidates[variable])
    candidates[variable] = lasting
    return is_less


def _is_solvable(pattern: Pattern, statements: Statements, candidates: Candidates) -> bool:
    """Say whether consistent candidates hold a match: try the nodes of the cut variables."""
    cuts = cut_variables(pattern)
    for nodes in product(*(sorted(candidates[variable]) for variable in cuts)):
        tried = [set(some) for some in candidates]
        for variable, node in zip(cuts, nodes, strict=True):
            tried[variable] = {node}
        if not cuts or is_consistent(pattern, statements, tried):
            return True
    return False


def _solutions(
    pattern: Pattern, statements: Statements, candidates: Candidates, variable: int
) -> Iterator[tuple[int, ...]]:
    """Yield matches by rising nodes; the variables before this one have one candidate each."""
    if variable == pattern.variables:
        yield tuple(next(iter(some)) for some in candidates)
        return
    for node in sorted(candidates[variable]):
        tried = [set(some) for some in candidates]
        tried[variable] = {node}
        if is_consistent(pattern, statements, tried) and _is_solvable(pattern, statements, tried):
            yield from _solutions(pattern, statements, tried, variable + 1)
