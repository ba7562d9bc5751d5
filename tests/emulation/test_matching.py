"""How mediators match is a key of the scenario: what is found is the same, what it takes is counted."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from emulation.devices.board_profile import load_board_profile
from emulation.devices.matching_costs import MatchingCosts
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from plugins.fuzzy.language import FUZZY
from plugins.matching_work import MatchingWork

WriteScenario = Callable[..., Path]
Rows = list[dict[str, Any]]
Tables = dict[str, Rows]
COUNTS = ("feature_tests", "memberships", "aggregations", "pairs", "rows")

CROWD = """
[[population]]
group = "medics"
event = "patient"
number = 60
attributes = [1, 3]
similarity = 0.8
selectivity = 0.6
"""


@pytest.fixture
def run(write_scenario: WriteScenario, tmp_path: Path) -> Callable[..., Tables]:
    """Run the small scenario with a crowd that asks, and return its tables."""
    runs = 0

    def run(overlay: str = "", more: str = "", crowd: str = CROWD, *changes: tuple[str, str]) -> Tables:
        nonlocal runs
        runs += 1
        path = write_scenario(("[area]", f"[overlay]\n{overlay}\n\n[area]"), *changes)
        path.write_text(path.read_text().replace("duration_s = 3600", "duration_s = 1200") + crowd + more)
        out = tmp_path / f"run-{runs}"
        run_scenario(load_scenario(path), 5, out)
        return {table.name: pq.read_table(table).to_pylist() for table in (out / "trace").iterdir()}

    return run


def work_in(row: dict[str, Any]) -> MatchingWork:
    return MatchingWork(*(row[name] for name in COUNTS))


def total(rows: Rows) -> Counter[str]:
    return sum((Counter({name: row[name] for name in COUNTS}) for row in rows), Counter())


def without_work(tables: Tables) -> Tables:
    return {name: rows for name, rows in tables.items() if name != "matching_work"}


def test_every_matcher_finds_the_same_and_counts_its_own_work(run: Callable[..., Tables]) -> None:
    usual = run()
    assert usual["matching_work"] == []
    assert usual["matches"]
    counted = {}
    for name in sorted(FUZZY.algorithms.keys() - FUZZY.partial_algorithms - {"crisp"}):
        tables = run(f'matcher = "{name}"')
        assert without_work(tables) == without_work(usual), name
        rows = tables["matching_work"]
        assert {row["cost_us"] for row in rows} == {0.0}
        assert sum(row["matches"] for row in rows) >= len(tables["matches"])
        counted[name] = total(rows)
    assert counted["naive"] == counted["fnif"] == counted["fast"], "few subscriptions are matched one by one"
    assert counted["fnifc"]["feature_tests"] < counted["fnif"]["feature_tests"]
    assert counted["fip"]["memberships"] < counted["fnif"]["memberships"]
    assert counted["shared"]["rows"] > 0 == counted["fnif"]["rows"]


def test_a_notification_is_judged_once_at_a_mediator_that_gets_it(run: Callable[..., Tables]) -> None:
    tables = run('matcher = "fnif"')
    named = [row for row in tables["matching_work"] if row["number"] is not None]
    stored = {
        (row["node"], row["origin"], row["number"])
        for row in tables["messages"]
        if row["type"] == "notification" and row["kind"] in ("stored", "replicated")
    }
    judged = Counter((row["node"], row["origin"], row["number"]) for row in named)
    assert stored <= judged.keys()
    assert {row["notifications"] for row in named} == {1}
    late = [row for row in tables["matching_work"] if row["number"] is None]
    assert all(row["origin"] is None and row["notifications"] >= 1 for row in late)
    subscribed = len(tables["subscriptions"])
    assert all(row["feature_tests"] <= subscribed for row in named)


def test_groups_may_match_differently(run: Callable[..., Tables]) -> None:
    more = """
[[group]]
name = "others"
role = "mediator"
count = 1
radio = "handheld"
matcher = "shared"
mobility = { model = "static", places_m = [[200, 150]] }
"""
    tables = run('matcher = "fnif"', more)
    others = {row["node"] for row in tables["nodes"] if row["group"] == "others"}
    by_rows = {row["node"] for row in tables["matching_work"] if row["rows"]}
    assert by_rows == others
    assert {row["node"] for row in tables["matching_work"]} > others


def test_a_phone_takes_the_time_of_the_counted_work_and_its_energy(run: Callable[..., Tables]) -> None:
    board = '[board.phone]\nprofile = "phone"\nmembership_us = 10000\n[energy.cell]\ncompute_w = 0.5\n'
    phones = ('role = "mediator"', 'role = "mediator"\nboard = "phone"\nenergy = "cell"')
    tables = run('matcher = "fnif"', board, CROWD, phones)
    costs = load_board_profile("phone").matching + MatchingCosts(membership_us=10_000)
    spent: Counter[int] = Counter()
    for row in tables["matching_work"]:
        assert row["cost_us"] == costs.of(work_in(row))
        spent[row["node"]] += row["cost_us"]
    assert sum(spent.values()) > 1e6, "there was something to compute"
    last = {row["node"]: row["compute_j"] for row in tables["energy"]}
    for node, cost_us in spent.items():
        assert last[node] == pytest.approx(0.5 * cost_us / 1e6)
    # Whoever computes answers when it is done: later than a mediator that takes no time.
    slow_ms, cost_us = first_answer(tables)
    quick_ms, nothing = first_answer(run('matcher = "fnif"'))
    assert nothing == 0.0
    assert slow_ms >= int(cost_us / 1000) > quick_ms


def first_answer(tables: Tables) -> tuple[int, float]:
    """The time from a mediator's first notification to its first message, and the cost of matching."""
    first = next(row for row in tables["matching_work"] if row["number"] is not None)
    said = [
        row["at_ms"]
        for row in tables["messages"]
        if row["kind"] == "sent" and row["node"] == first["node"] and row["at_ms"] >= first["at_ms"]
    ]
    return min(said) - first["at_ms"], first["cost_us"]


def test_break_down_counts_its_pairs(run: Callable[..., Tables]) -> None:
    crowd = CROWD.replace("[1, 3]", "[3, 3]") + 'aggregator = "{}"\nform = "{}"\n'
    alone = ('[[subscription]]\ngroup = "medics"\nfile = "fever.xml"\n', "")
    for matcher, aggregator, form, pairs in (
        ("bfcpab", "pattern_breakdown", "d2c1", 1),
        ("bfcpa1", "takagi_sugeno_1", "geometric_mean", 3),
        ("bfcpa2", "takagi_sugeno_0", "harmonic_mean", 3),
        ("fnif", "pattern_exact", "d2c1", 0),
    ):
        found = total(
            run(f'matcher = "{matcher}"', "", crowd.format(aggregator, form), alone)["matching_work"]
        )
        assert found["aggregations"] > 0
        assert found["pairs"] == pairs * found["aggregations"], matcher


def served(tables: Tables) -> Counter[tuple[int, int, int, int, int]]:
    """How often a mediator found a subscription for a reading: mediator, source, reading, subscriber, id."""
    readings = {(row["origin"], row["number"]): bytes(row["vector"][:2]) for row in tables["notifications"]}
    return Counter(
        (
            row["node"],
            row["origin"],
            int.from_bytes(readings[row["origin"], row["number"]], "big"),
            row["subscriber"],
            row["id"],
        )
        for row in tables["matches"]
    )


@pytest.mark.parametrize("board", ["", "microbit", "pico"])
def test_exact_serves_what_subset_serves_with_a_notification_for_each_feature(
    run: Callable[..., Tables], board: str
) -> None:
    """Hosts and boards alike; under `exact` nothing is found twice for a reading."""
    more = f'[board.own]\nprofile = "{board}"\n' if board else ""
    changes = [('role = "publisher"', 'role = "publisher"\nboard = "own"')] if board else []
    subset, exact = (
        run(f'condition = "{condition}"', more, CROWD, *changes) for condition in ("subset", "exact")
    )
    if not board:
        assert without_work(run()) == without_work(subset)
    pairs = served(exact)
    assert len(pairs) > 100
    assert set(pairs) == set(served(subset))
    assert set(pairs.values()) == {1}
    features = {(row["origin"], bytes(row["vector"][:2])): set() for row in exact["notifications"]}
    for row in exact["notifications"]:
        features[row["origin"], bytes(row["vector"][:2])].add(row["vector"][-1])
    assert max(map(len, features.values())) > 1
    assert len(exact["notifications"]) > len(subset["notifications"])


def test_non_board_device_filters_by_any_algorithm_and_accepts_everything(
    run: Callable[..., Tables],
) -> None:
    board = '[board.phone]\nprofile = "phone"\nalgorithm = "fnifc"\n'
    phones = ('role = "publisher"', 'role = "publisher"\nboard = "phone"')
    tables = run("", board, CROWD, phones)
    assert max(row["installed"] for row in tables["filter_decisions"]) > 0
    assert all((row["cost_us"] > 0) == (row["installed"] > 0) for row in tables["filter_decisions"])
