"""The chapter's figures and the language's own cases: matches, bindings, containments."""

import json
from itertools import permutations

import pytest

from knowledge_manager.graphs.taxonomy import Taxonomy, merge_taxonomies
from knowledge_manager.graphs.taxonomy_files import shipped_taxonomy
from knowledge_manager.graphs.terms import written
from plugins.gtopss.match import Verdict, bindings, judge
from plugins.gtopss.relations.containment import contains, frozen
from plugins.gtopss.statements import Statements
from tests.paths import ROOT
from tests.plugins.gtopss.judges import OxigraphJudge
from tests.plugins.gtopss.notation import NAMES, graph, pattern, term

CASES = json.loads((ROOT / "tests" / "golden" / "gtopss.json").read_text("utf-8"))


def named(lists: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {NAMES + one: tuple(NAMES + other for other in some) for one, some in lists.items()}


FIGURE = Taxonomy("figure 5.6", named(CASES["taxonomy"]["parents"]), named(CASES["taxonomy"]["types"]))
TAXONOMY = merge_taxonomies([FIGURE, shipped_taxonomy("hazards")])


@pytest.mark.parametrize("case", CASES["matches"], ids=lambda case: case["case"])
def test_matches(case: dict) -> None:  # type: ignore[type-arg]
    told = graph(CASES["publications"][case["publication"]])
    asked = pattern(case["edges"], case["where"])
    statements = Statements(told, TAXONOMY)
    wanted = sorted(tuple(written(term(text)) for text in row) for row in case["bindings"])
    assert [tuple(map(written, row)) for row in bindings(asked, statements).rows] == wanted
    assert judge(asked, statements) is (Verdict.MATCHED if wanted else Verdict.NOT)
    assert sorted(OxigraphJudge(told, TAXONOMY).rows(asked)) == wanted


@pytest.mark.parametrize("group", CASES["groups"])
def test_containments(group: str) -> None:
    said = {name: pattern(**CASES["patterns"][name]) for name in CASES["groups"][group]}
    found = {
        (one, other) for one, other in permutations(said, 2) if contains(said[one], said[other], TAXONOMY)
    }
    assert found == {tuple(pair) for pair in CASES["contains"][group]}
    for one, other in permutations(said, 2):
        if not said[one].constraints and not said[other].constraints:
            is_frozen = judge(said[one], Statements(frozen(said[other]), TAXONOMY)) is Verdict.MATCHED
            assert is_frozen == ((one, other) in found)
