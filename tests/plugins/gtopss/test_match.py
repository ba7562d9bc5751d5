"""The definition of a match, against judges that share no code with it."""

from hypothesis import given

from knowledge_manager.graphs.terms import Graph, written
from plugins.gtopss.match import MOST_BINDINGS, Verdict, bindings, judge
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.statements import Statements
from tests.plugins.gtopss.graphs import SMALL_TAXONOMY, patterns, small_graphs
from tests.plugins.gtopss.judges import OxigraphJudge, brute_rows


@given(patterns(), small_graphs())
def test_matches_and_bindings_are_those_of_sparql(pattern: Pattern, graph: Graph) -> None:
    statements = Statements(graph, SMALL_TAXONOMY)
    rows = sorted(OxigraphJudge(graph, SMALL_TAXONOMY).rows(pattern))
    assert judge(pattern, statements) is (Verdict.MATCHED if rows else Verdict.NOT)
    found = bindings(pattern, statements)
    assert [tuple(map(written, row)) for row in found.rows] == rows[:MOST_BINDINGS]
    assert found.has_more == (len(rows) > MOST_BINDINGS)


@given(patterns(variables=3), small_graphs(most=6))
def test_matches_are_those_of_all_assignments(pattern: Pattern, graph: Graph) -> None:
    rows = sorted(brute_rows(pattern, graph, SMALL_TAXONOMY))
    found = bindings(pattern, Statements(graph, SMALL_TAXONOMY))
    assert [tuple(map(written, row)) for row in found.rows] == rows[:MOST_BINDINGS]
