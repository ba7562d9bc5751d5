"""The tables of brokers as they stood last, over their neighbours."""

import pytest

from spark_analysis.questions.brokers import BrokerTables, brokers_table, tables_by_broker
from tests.spark_analysis.conftest import MakeTable
from tests.spark_analysis.sample import sample_analysis

pytestmark = pytest.mark.spark


def row(at_ms: int, node: int, peer: int, told: int, covered: int, mergers: int) -> dict[str, object]:
    counts = {"subscriptions": told, "covered": covered, "mergers": mergers}
    return {"at_ms": at_ms, "node": node, "peer": peer, "advertisements": 1, **counts}


def test_the_last_row_of_each_link_counts(make_table: MakeTable) -> None:
    found = make_table(
        "routing",
        row(5, 1, 2, 9, 9, 9),
        row(7, 1, 2, 3, 0, 0),
        row(7, 1, 2, 4, 2, 1),
        row(6, 1, 3, 5, 1, 0),
        row(1, 2, 1, 8, 0, 0),
    ).transform(tables_by_broker)
    rows = {one["node"]: one.asDict() for one in found.collect()}
    assert rows == {
        1: {"node": 1, "neighbours": 2, "advertisements": 2, "subscriptions": 9, "covered": 3, "mergers": 1},
        2: {"node": 2, "neighbours": 1, "advertisements": 1, "subscriptions": 8, "covered": 0, "mergers": 0},
    }


def test_a_report_shows_them_where_there_are_brokers() -> None:
    assert brokers_table(sample_analysis().brokers) == ""
    shown = brokers_table((BrokerTables("offices", 31, 60, 9, 62, 5, 4),))
    for cell in ("offices", "31", "60", "62"):
        assert f">{cell}<" in shown
