"""Definition of matching: variables are replaced by nodes so that every edge becomes a statement and every
constraint holds; two variables may have the same node (a homomorphism).

*Candidates* of a variable are nodes that satisfy its constraints and its edges to constants. Arc consistency
removes candidates without support: along every edge and every `differs` a candidate needs a candidate at the
other end. The result is unique. If the pattern has no rings, candidates for all variables mean a match. If it
has rings, the nodes of the first cut variable are tried one by one, and within each those of the second.

Work is counted where it is done (decision 0039): one unit per statement examined for an edge, per candidate
tested against a constraint or a `differs`, and per variable set for a node that is tried. A pair whose rings
need more than `MOST_WORK` units is *undecided*, by definition and for every algorithm: it counts as matched,
with the lowest degree. A pattern without rings is always decided. Compiled code counts the same units: it
processes nodes, lines and constraints in the same order, that of the bytes and of the canonical form.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

from knowledge_manager.graphs.terms import Iri, Term
from plugins.gtopss.canonical import canonical
from plugins.gtopss.pattern import Code, Edge, Pattern
from plugins.gtopss.rings import cut_variables
from plugins.gtopss.statements import Statements
from plugins.work import WorkExceeded, WorkMeter

MOST_WORK: Final = 1 << 21
"""Maximum units of work for the rings of a pair."""

MOST_BINDINGS: Final = 16
_BINDING_WORK: Final = 4 * MOST_WORK
"""Maximum units of work for finding bindings."""

FULLY: Final = 255
BARELY: Final = 1
"""Degree of an undecided pair: it is dropped first when storage is short."""
UNDECIDED_DETAIL: Final = b"\x01"

Candidates = list[set[int]]


class Verdict(Enum):
    """Result for a publication and a pattern."""

    MATCHED = "matched"
    UNDECIDED = "undecided"
    NOT = "not matched"


class Judgement(NamedTuple):
    """A verdict, and its units of work; 0 if candidates were missing from the start."""

    verdict: Verdict
    work: int


@dataclass(frozen=True, slots=True)
class Bindings:
    """For each match of a publication, the nodes of the variables in order."""

    rows: tuple[tuple[Term, ...], ...]
    has_more: bool = False


class Line(NamedTuple):
    """Connects the nodes of two variables: an edge with a property, or a `differs` without."""

    one: int
    other: int
    property: Iri | None


class JoinPlan(NamedTuple):
    """The lines of a pattern, edges first, and its cut variables."""

    lines: tuple[Line, ...]
    cuts: tuple[int, ...]

    def lines_at(self, variable: int) -> list[bool]:
        """Return for each line whether it ends in a variable."""
        return [variable in (line.one, line.other) for line in self.lines]


@lru_cache(maxsize=4096)
def form_of(pattern: Pattern) -> Pattern:
    """Return the canonical form, which determines the order of work."""
    return canonical(pattern)


@lru_cache(maxsize=4096)
def plan_of(pattern: Pattern) -> JoinPlan:
    lines = [
        Line(edge.subject, edge.object, edge.property)
        for edge in pattern.edges
        if isinstance(edge.subject, int) and isinstance(edge.object, int) and edge.subject != edge.object
    ]
    lines += [Line(one, other, None) for one, other in pattern.differing]
    return JoinPlan(tuple(lines), cut_variables(pattern))


def judge(pattern: Pattern, statements: Statements) -> Verdict:
    return judged(form_of(pattern), statements).verdict


def judged(form: Pattern, statements: Statements, most_work: int = MOST_WORK) -> Judgement:
    """Return the result for a pattern in canonical form, and its work."""
    linear = WorkMeter()
    candidates = _own_candidates(form, statements, linear)
    if candidates is None:
        return Judgement(Verdict.NOT, 0)
    plan = plan_of(form)
    join = WorkMeter(most_work if plan.cuts else None)
    try:
        is_matched = _is_consistent(
            plan, statements, candidates, [True] * len(plan.lines), join
        ) and _is_solvable(plan, statements, candidates, plan.cuts, join)
        verdict = Verdict.MATCHED if is_matched else Verdict.NOT
    except WorkExceeded:
        verdict = Verdict.UNDECIDED
    return Judgement(verdict, linear.spent + join.spent)


def bindings(pattern: Pattern, statements: Statements) -> Bindings:
    """Return the first bindings, ascending by the N-Triples texts of the nodes; none for an undecided pair.
    If the search needs too much work, those found so far are returned.
    """
    if judge(pattern, statements) is not Verdict.MATCHED:
        return Bindings(())
    plan, meter = plan_of(pattern), WorkMeter(_BINDING_WORK)
    found: list[tuple[int, ...]] = []
    has_more = False
    try:
        candidates = _own_candidates(pattern, statements, WorkMeter())
        assert candidates is not None, "a match has candidates"
        _is_consistent(plan, statements, candidates, [True] * len(plan.lines), meter)
        for nodes in _solutions(plan, statements, candidates, 0, meter):
            has_more = len(found) == MOST_BINDINGS
            if has_more:
                break
            found.append(nodes)
    except WorkExceeded:
        has_more = True
    return Bindings(tuple(tuple(statements.nodes[node] for node in nodes) for nodes in found), has_more)


def first_candidates(pattern: Pattern, statements: Statements) -> Candidates | None:
    """Return the candidates of all variables, or None if an edge or variable has none. If arc consistency
    needs too much work, candidates without support may remain.
    """
    found = _own_candidates(pattern, statements, WorkMeter())
    if found is None:
        return None
    plan = plan_of(pattern)
    try:
        is_left = _is_consistent(
            plan, statements, found, [True] * len(plan.lines), WorkMeter(MOST_WORK if plan.cuts else None)
        )
    except WorkExceeded:
        return found
    return found if is_left else None


def _own_candidates(pattern: Pattern, statements: Statements, meter: WorkMeter) -> Candidates | None:
    """Return the candidates after single edges and constraints on one variable, or None if one is empty."""
    found: list[set[int] | None] = [None] * pattern.variables
    if any(edge.property not in statements.by_property for edge in pattern.edges):
        return None
    for edge in pattern.edges:
        meter.spend(len(statements.by_property[edge.property]))
        ends = _ends(edge, statements)
        if not ends:
            return None
        for side, variable in enumerate((edge.subject, edge.object)):
            if isinstance(variable, int):
                own, known = {pair[side] for pair in ends}, found[variable]
                found[variable] = own if known is None else known & own
    candidates = [some or set() for some in found]
    for one in pattern.constraints:
        if one.code is not Code.DIFFERS:
            meter.spend(len(candidates[one.variable]))
            candidates[one.variable] = statements.passing(one, candidates[one.variable])
    for pair in pattern.differing:
        for variable in pair:
            candidates[variable] = statements.well_formed(candidates[variable])
    return candidates if all(candidates) else None


def _ends(edge: Edge, statements: Statements) -> Sequence[tuple[int, int]]:
    """Return the pairs of nodes that an edge matches by itself."""
    pairs = statements.by_property[edge.property]
    if isinstance(edge.subject, int) and isinstance(edge.object, int):
        return [pair for pair in pairs if pair[0] == pair[1]] if edge.subject == edge.object else pairs
    if isinstance(edge.subject, int):
        end = statements.number_of.get(edge.object)  # type: ignore[arg-type]
        return [pair for pair in pairs if pair[1] == end]
    start = statements.number_of.get(edge.subject)
    if isinstance(edge.object, int):
        return [pair for pair in pairs if pair[0] == start]
    end = statements.number_of.get(edge.object)
    return [pair for pair in pairs if pair == (start, end)]


def _is_consistent(
    plan: JoinPlan, statements: Statements, candidates: Candidates, pending: list[bool], meter: WorkMeter
) -> bool:
    """Remove candidates without support, starting with the pending lines; return whether every variable keeps
    one. A line is pending again when another one removed a candidate at one of its ends.
    """
    while any(pending):
        for number, line in enumerate(plan.lines):
            if not pending[number]:
                continue
            pending[number] = False
            before = len(candidates[line.one]), len(candidates[line.other])
            _revise(line, statements, candidates, meter)
            for variable, size in zip((line.one, line.other), before, strict=True):
                if not candidates[variable]:
                    return False
                if len(candidates[variable]) < size:
                    for other, touched in enumerate(plan.lines_at(variable)):
                        pending[other] |= touched and other != number
    return True


def _revise(line: Line, statements: Statements, candidates: Candidates, meter: WorkMeter) -> None:
    """Keep the candidates with support along a line."""
    own, others = candidates[line.one], candidates[line.other]
    if line.property is None:
        meter.spend(len(own) + len(others))
        candidates[line.one] = own = _apart(statements, own, others)
        candidates[line.other] = _apart(statements, others, own)
        return
    pairs = statements.by_property[line.property]
    meter.spend(len(pairs))
    kept = [pair for pair in pairs if pair[0] in own and pair[1] in others]
    candidates[line.one] = {pair[0] for pair in kept}
    candidates[line.other] = {pair[1] for pair in kept}


def _apart(statements: Statements, nodes: set[int], others: set[int]) -> set[int]:
    """Return the nodes that differ from some of the others. A node that is not a double equals few others,
    and only those are compared with all.
    """
    if not others:
        return set()
    first = min(others, key=lambda node: (statements.is_double(node), node))
    return {
        node
        for node in nodes
        if statements.differ(node, first) or any(statements.differ(node, other) for other in others)
    }


def _is_solvable(
    plan: JoinPlan,
    statements: Statements,
    candidates: Candidates,
    cuts: tuple[int, ...],
    meter: WorkMeter,
) -> bool:
    """Return whether consistent candidates contain a match: try the nodes of the cut variables."""
    if not cuts:
        return True
    return any(
        tried is not None and _is_solvable(plan, statements, tried, cuts[1:], meter)
        for tried in (
            _fixed(plan, statements, candidates, cuts[0], node, meter) for node in sorted(candidates[cuts[0]])
        )
    )


def _fixed(
    plan: JoinPlan, statements: Statements, candidates: Candidates, variable: int, node: int, meter: WorkMeter
) -> Candidates | None:
    """Return the candidates that are consistent with one node of a variable, or None."""
    meter.spend(len(candidates))
    tried = list(candidates)
    tried[variable] = {node}
    return tried if _is_consistent(plan, statements, tried, plan.lines_at(variable), meter) else None


def _solutions(
    plan: JoinPlan, statements: Statements, candidates: Candidates, variable: int, meter: WorkMeter
) -> Iterator[tuple[int, ...]]:
    """Yield matches by rising texts of nodes; the variables before this one have one candidate each."""
    if variable == len(candidates):
        yield tuple(next(iter(some)) for some in candidates)
        return
    for node in sorted(candidates[variable], key=statements.text_ranks.__getitem__):
        tried = _fixed(plan, statements, candidates, variable, node, meter)
        if tried is not None and _is_solvable(plan, statements, tried, plan.cuts, meter):
            yield from _solutions(plan, statements, tried, variable + 1, meter)
