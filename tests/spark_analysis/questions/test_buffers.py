"""Buffers, copies, costs and fairness on hand-made tables."""

from collections.abc import Callable

import pytest
from pyspark.sql import DataFrame

from dens.trace.manifest import Manifest
from spark_analysis.devices import Devices
from spark_analysis.matching_figures import MatchingWork
from spark_analysis.metrics.delivery import delivery_ratio, with_group, with_run
from spark_analysis.questions.buffers import buffer_use, copies_over_time, held_over_time, replication_degree
from spark_analysis.questions.delivery import Fairness
from spark_analysis.questions.load import computing_cost, load_of

MakeTable = Callable[..., DataFrame]

SINGLE = Devices(9, {})
SEVERAL = Devices(1, {2: 1})
"""Engine 2 is inside device 1."""


@pytest.fixture
def nodes(make_table: MakeTable) -> DataFrame:
    return make_table(
        "nodes",
        {"node": 1, "group": "relays", "role": "mediator"},
        {"node": 2, "group": "relays", "role": "mediator"},
        {"node": 3, "group": "medics", "role": "subscriber"},
    )


@pytest.fixture
def buffers(make_table: MakeTable) -> DataFrame:
    rows = [
        (0, 1, 0, 0),
        (0, 2, 0, 0),
        (1000, 1, 9, 900),
        (1000, 1, 2, 60),
        (2500, 2, 1, 30),
        (3000, 1, 1, 30),
    ]
    return make_table(
        "buffers",
        *(
            {"at_ms": at_ms, "node": node, "notifications": items, "notification_bytes": size}
            for at_ms, node, items, size in rows
        ),
    )


def test_what_all_nodes_hold(buffers: DataFrame) -> None:
    found = buffers.transform(held_over_time, 1000).collect()
    assert [tuple(row) for row in found] == [(0, 0, 0), (1, 2, 60), (2, 3, 90), (3, 2, 60)]


def test_use_is_weighted_by_time_and_a_moment_has_one_value(buffers: DataFrame) -> None:
    found = buffers.transform(buffer_use, SINGLE, 4000).collect()
    assert sorted(tuple(row) for row in found) == [(1, 4000, 5000, 2, 60), (2, 4000, 1500, 1, 30)]
    load = load_of("relays", 2, found, [], [])
    # node 1: 0 for 1 s, 2 for 2 s, 1 for 1 s; node 2: 0 for 2.5 s, 1 for 1.5 s; eight seconds in all
    assert load.mean_items == pytest.approx((2 * 2 + 1 + 1.5) / 8)
    assert (load.peak_items, load.peak_bytes) == (2, 60)
    assert (load.filter_us_per_reading, load.matching) == (None, MatchingWork())


def test_a_device_holds_what_its_engines_hold(buffers: DataFrame) -> None:
    found = buffers.transform(buffer_use, SEVERAL, 4000).collect()
    # 0 for 1 s, 2 for 1.5 s, 3 for half a second, 2 for 1 s
    assert [tuple(row) for row in found] == [(1, 4000, 3000 + 1500 + 2000, 3, 90)]


def test_who_ever_held_a_notification(make_table: MakeTable) -> None:
    def step(kind: str, node: int, number: int = 1, type_: str = "notification") -> dict[str, object]:
        return {"kind": kind, "node": node, "origin": 9, "number": number, "type": type_}

    messages = make_table(
        "messages",
        step("created", 9),
        step("stored", 1),
        step("replicated", 2),
        step("replicated", 2),
        step("received", 3),
        step("stored", 4, 1, "receipt"),
        step("created", 9, 2),
    )
    found = messages.transform(replication_degree, SINGLE).orderBy("number").collect()
    assert [tuple(row) for row in found] == [(9, 1, 3), (9, 2, 1)]
    found = messages.transform(replication_degree, SEVERAL).orderBy("number").collect()
    assert [tuple(row) for row in found] == [(9, 1, 2), (9, 2, 1)]


def test_cost_by_group(make_table: MakeTable) -> None:
    readings = make_table(
        "filter_decisions",
        {"node": 1, "cost_us": 10.0},
        {"node": 1, "cost_us": 20.0},
        {"node": 2, "cost_us": 60.0},
    )
    found = readings.transform(computing_cost, "node").collect()
    assert sorted(tuple(row) for row in found) == [(1, 2, 30.0), (2, 1, 60.0)]
    load = load_of("relays", 2, [], found, [])
    assert (load.filter_s, load.filter_us_per_reading) == (pytest.approx(90e-6), 30.0)
    assert (load.matching, load.mean_items) == (MatchingWork(), None)


def test_delivery_by_role_and_language_and_how_fair_it_is(make_table: MakeTable, nodes: DataFrame) -> None:
    spark = nodes.sparkSession
    pairs = spark.createDataFrame(
        [
            (9, 1, 1, 1, "delivered", True),
            (9, 2, 0, 1, "missed", True),
            (9, 1, 1, 2, "open", False),
            (9, 1, 1, 3, "delivered", True),
            (9, 2, 0, 3, "delivered", False),
        ],
        "origin int, number long, language int, subscriber int, outcome string, whole boolean",
    ).coalesce(1)
    by_role = pairs.transform(with_group, nodes).transform(delivery_ratio, "role").orderBy("role").collect()
    assert [(row["role"], row["expected"], row["delivered"]) for row in by_role] == [
        ("mediator", 3, 1),
        ("subscriber", 2, 2),
    ]
    by_language = pairs.transform(delivery_ratio, "language").collect()
    assert {row["language"]: row["ratio"] for row in by_language} == {0: 0.5, 1: pytest.approx(2 / 3)}
    assert {row["language"]: row["whole_ratio"] for row in by_language} == {0: 0.0, 1: 1.0}
    single = Fairness.of(row["ratio"] for row in pairs.transform(delivery_ratio, "subscriber").collect())
    assert single == Fairness(pytest.approx((0.5 + 0 + 1) ** 2 / (3 * (0.25 + 0 + 1))), 0.0, 1.0)


def test_delivery_by_policy_and_seed(nodes: DataFrame) -> None:
    spark = nodes.sparkSession
    frame = spark.createDataFrame(
        [(1, "delivered", True), (2, "missed", True)], "subscriber int, outcome string, whole boolean"
    )

    def of(policy: str, seed: int) -> DataFrame:
        scenario = {"name": "x", "overlay": {"policy": policy}}
        return frame.coalesce(1).transform(with_run, Manifest(1, "complete", 1, seed, scenario))

    both = of("epidemic", 1).unionAll(of("direct", 1).where("subscriber = 1")).unionAll(of("epidemic", 2))
    rows = both.transform(delivery_ratio, "policy").orderBy("policy").collect()
    assert [
        (row["policy"], row["expected"], row["delivered"], row["missed"], row["ratio"]) for row in rows
    ] == [
        ("direct", 1, 1, 0, 1.0),
        ("epidemic", 4, 2, 2, 0.5),
    ]
    assert both.transform(delivery_ratio, "policy", "seed").count() == 3
    assert frame.transform(with_run, Manifest(1, "complete", 1, None, {})).columns[:3] == [
        "scenario",
        "policy",
        "seed",
    ]


def test_copies_and_how_far_they_spread(make_table: MakeTable) -> None:
    def step(
        at_ms: int, kind: str, node: int, number: int = 1, type_: str = "notification"
    ) -> dict[str, object]:
        return {"at_ms": at_ms, "kind": kind, "node": node, "origin": 5, "number": number, "type": type_}

    messages = make_table(
        "messages",
        step(0, "created", 5),
        step(900, "stored", 5),
        step(1000, "received", 1),
        step(1000, "replicated", 1),
        step(1500, "stored", 1),
        step(1999, "replicated", 2),
        step(5000, "created", 5, number=2),
        step(5000, "created", 5, number=3, type_="receipt"),
    )
    rows = messages.transform(copies_over_time, SINGLE, 1000).collect()
    assert [tuple(row) for row in rows] == [(0, 1, 1), (1, 2, 0), (5, 1, 1)]


def test_nothing_delivered_has_no_fairness() -> None:
    assert Fairness.of([0.0, None]) == Fairness(None, 0.0, 0.0)
    assert Fairness.of([]) == Fairness(None, None, None)
    assert Fairness.of([0.25, None, 0.25]).jain == 1.0
