"""What mediators counted is added up by node, and before it was counted by what matches cost."""

import pytest

from spark_analysis.matching_figures import MatchingWork, sum_matching, total_matching
from spark_analysis.questions.load import matching_before_version_4, matching_by_node
from tests.spark_analysis.conftest import MakeTable


def test_sums_by_node(make_table: MakeTable) -> None:
    def step(node: int, **counts: float) -> dict[str, object]:
        return {"node": node, "origin": 9, "number": 1, "notifications": 1, **counts}

    found = make_table(
        "matching_work",
        step(1, feature_tests=10, memberships=30, aggregations=10, matches=2, cost_us=5.0),
        step(1, feature_tests=20, pairs=4, rows=3, cost_us=1.5),
        step(2, feature_tests=7),
        {"node": 2, "origin": None, "number": None, "notifications": 4, "feature_tests": 4, "cost_us": 3.0},
    ).transform(matching_by_node)
    rows = {row["node"]: sum_matching([row.asDict()]) for row in found.collect()}
    assert rows == {
        1: MatchingWork(2, 2, 30, 30, 10, 4, 3, 6.5),
        2: MatchingWork(1, 0, 7, late_us=3.0),
    }
    both = total_matching(rows.values())
    assert both == MatchingWork(3, 2, 37, 30, 10, 4, 3, 6.5, 3.0)
    assert (both.steps, both.total_us) == (84, 9.5)
    assert both.each(both.steps) == pytest.approx(84 / 3)
    assert MatchingWork().each(5) is None


def test_of_older_traces_only_the_cost_of_matches_is_known(make_table: MakeTable) -> None:
    def match(node: int, number: int, cost_us: float) -> dict[str, object]:
        return {"node": node, "origin": 9, "number": number, "cost_us": cost_us}

    rows = make_table("matches", match(1, 1, 10.0), match(1, 1, 10.0), match(1, 2, 10.0), match(2, 1, 0.0))
    [found] = rows.transform(matching_before_version_4).collect()
    assert sum_matching([found.asDict()]) == MatchingWork(notifications=2, matches=3, cost_us=30.0)
