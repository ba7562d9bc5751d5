"""The workload in the language's own form: patterns, and the bytes of both sides."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from dens_experiments.graph_workload import NAMESPACE, Drawn, DrawnPattern, Statement
from knowledge_manager.graphs.terms import INTEGER, Iri, Literal, Triple, literal
from knowledge_manager.mission_table import MissionTable, load_mission_table
from plugins.gtopss.pattern import Code, Constraint, Edge, End, Pattern
from plugins.gtopss.vectors import GraphPublication, encode_pattern, encode_publication

VOCABULARY: Final = "reports"


@cache
def table() -> MissionTable:
    """Return the mission table of the experiments. Their names are not in its dictionary; nothing that is
    measured depends on that.
    """
    return load_mission_table([VOCABULARY])


def constant(name: str | int) -> Iri | Literal:
    """Return the term of a name, or of a number."""
    return literal(str(name), INTEGER) if isinstance(name, int) else Iri(NAMESPACE + name)


def pattern_of(drawn: DrawnPattern) -> Pattern:
    """Return a subscription as a pattern."""
    edges = tuple(Edge(_end(s), Iri(NAMESPACE + p), _end(o)) for s, p, o in drawn.edges)
    limits = tuple(
        Constraint(one.variable, Code[one.operator.upper()], constant(one.operand)) for one in drawn.limits
    )
    return Pattern(drawn.variables, edges, limits)


def body_of(drawn: DrawnPattern) -> bytes:
    """Return a subscription's body."""
    return encode_pattern(pattern_of(drawn), table().dictionary)


def vector_of(told: Sequence[Statement], number: int = 0) -> bytes:
    """Return a publication's vector."""
    triples = frozenset(Triple(constant(s), Iri(NAMESPACE + p), constant(o)) for s, p, o in told)
    return encode_publication(GraphPublication(triples, number), table().dictionary)


def encoded(drawn: Drawn) -> tuple[list[bytes], list[bytes]]:
    """Return bodies and vectors of a workload."""
    return (
        [body_of(one) for one in drawn.subscriptions],
        [vector_of(told, place) for place, told in enumerate(drawn.publications)],
    )


def _end(end: int | str) -> End:
    return end if isinstance(end, int) else Iri(NAMESPACE + end)
