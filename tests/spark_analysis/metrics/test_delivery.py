"""Delivery on hand-made tables whose answers can be counted by eye."""

from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from spark_analysis.devices import Devices
from spark_analysis.metrics.delivery import (
    STILL_HELD_MS,
    copies_at_end,
    deliveries,
    delivery_ratio,
    outcomes,
    over_time,
    pairs,
    tally,
    with_group,
)
from spark_analysis.metrics.expected_schema import EXPECTED
from spark_analysis.questions.delivery import delivery_of

MakeTable = Callable[..., DataFrame]

END_MS = 10_000


def message(at_ms: int, kind: str, node: int, number: int, **more: Any) -> dict[str, Any]:
    return {"at_ms": at_ms, "kind": kind, "node": node, "origin": 9, "number": number, **more}


def owed_row(
    number: int,
    event_ms: int,
    subscriber: int,
    id_: int,
    lifetime_ms: int = 5_000,
    first: bool = True,
    withdrawn_ms: int | None = None,
) -> tuple[int | None, ...]:
    return (9, number, event_ms, lifetime_ms, 1, subscriber, id_, 0, 255, first, withdrawn_ms)


def rows(frame: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict() for row in frame.collect()]


def owed_frame(spark: SparkSession, *lines: tuple[int | None, ...]) -> DataFrame:
    return spark.createDataFrame(list(lines), EXPECTED).coalesce(1)


def story(spark: SparkSession, make_table: MakeTable) -> tuple[DataFrame, DataFrame]:
    """Two subscribers: 1 with two subscriptions, 2 with one; four notifications of node 9."""
    owed = owed_frame(
        spark,
        owed_row(100, 1_000, 1, 0),
        owed_row(100, 1_000, 1, 1, first=False),  # the same pair, subscribed twice
        owed_row(100, 1_000, 2, 0),
        owed_row(101, 4_000, 1, 0),  # its time is over at 9,000: missed
        owed_row(102, 6_000, 2, 0),  # its time would be over at 11,000: open
        owed_row(103, 5_000, 2, 0),  # its time is over exactly at the end: missed
    )
    delivered = make_table(
        "messages",
        message(3_000, "delivered", 1, 100, hops=4),
        message(2_500, "delivered", 2, 100, hops=3),
        message(2_400, "received", 2, 100, hops=3),
        message(2_600, "duplicate", 2, 100),
    ).transform(deliveries)
    return owed, delivered


def test_every_expected_delivery_has_an_outcome(spark: SparkSession, make_table: MakeTable) -> None:
    owed, delivered = story(spark, make_table)
    found = {
        (row["number"], row["subscriber"], row["id"]): (row["outcome"], row["delay_ms"], row["hops"])
        for row in outcomes(owed, delivered, END_MS).collect()
    }
    assert found == {
        (100, 1, 0): ("delivered", 2_000, 4),
        (100, 1, 1): ("delivered", 2_000, 4),
        (100, 2, 0): ("delivered", 1_500, 3),
        (101, 1, 0): ("missed", None, None),
        (102, 2, 0): ("open", None, None),
        (103, 2, 0): ("missed", None, None),
    }


def test_what_cannot_arrive_any_more_is_not_open(spark: SparkSession, make_table: MakeTable) -> None:
    owed = owed_frame(
        spark,
        owed_row(1, 6_000, 1, 0),
        owed_row(2, 6_000, 1, 0),
        owed_row(3, 6_000, 1, 0, withdrawn_ms=9_000),
        owed_row(4, 1_000, 1, 0, withdrawn_ms=5_000),  # withdrawn before its time was over
        owed_row(5, 1_000, 1, 0, withdrawn_ms=6_000),  # and after that
        owed_row(6, 6_000, 1, 0, withdrawn_ms=10_001),  # after the end of the run
        owed_row(7, 1_000, 1, 0, withdrawn_ms=5_000),
        owed_row(8, 6_000, 1, 0),
    )
    steps = make_table(
        "messages",
        *(message(6_000, "created", 9, number, type="notification") for number in range(1, 8)),
        message(7_000, "dropped", 9, 2, type="notification"),
        message(5_500, "delivered", 1, 7),
    )
    copies = copies_at_end(steps, make_table("node_state"), Devices(2, {}))
    found = outcomes(owed, steps.transform(deliveries), END_MS, copies).orderBy("number").collect()
    assert [(row["outcome"], row["whole"]) for row in found] == [
        ("open", False),
        ("lost", False),
        ("withdrawn", False),
        ("withdrawn", False),
        ("missed", True),
        ("open", False),
        ("delivered", False),
        ("open", False),  # nothing is known of its copies
    ]


def test_copies_end_with_the_store_of_their_device(make_table: MakeTable) -> None:
    """Engine 3 is the publisher in device 1; device 2 loses its store at 5,000."""

    def step(at_ms: int, kind: str, node: int, number: int) -> dict[str, Any]:
        return {**message(at_ms, kind, node, number, type="notification"), "origin": 3}

    steps = make_table(
        "messages",
        step(1_000, "created", 3, 1),
        step(1_000, "stored", 1, 1),
        step(1_000, "acknowledged", 3, 1),
        step(2_000, "replicated", 2, 1),
        step(3_000, "dropped", 1, 1),
        step(1_000, "created", 3, 2),
        step(1_000, "created", 3, 3),
        step(1_000, "stored", 1, 3),
        step(1_000, "acknowledged", 3, 3),
        step(2_000, "replicated", 2, 3),
        step(3_000, "expired", 1, 3),
        step(6_000, "replicated", 2, 3),
        step(1_000, "created", 3, 4),
        step(1_000, "dropped", 1, 4),  # refused, and never held
        step(2_000, "stored", 1, 4),
    )
    states = make_table(
        "node_state",
        {"at_ms": 4_000, "node": 2, "state": "down", "reason": "crash"},
        {"at_ms": 5_000, "node": 2, "state": "up", "reason": "restart_empty"},
        {"at_ms": 5_000, "node": 1, "state": "up", "reason": "restart"},
    )
    found = copies_at_end(steps, states, Devices(2, {3: 1})).orderBy("number").collect()
    columns = ("number", "left", "carried_left", "ran_out")
    assert [tuple(row[name] for name in columns) for row in found] == [
        (1, False, False, False),
        (2, True, False, False),
        (3, True, True, True),
        (4, True, True, False),
    ]


def test_a_device_that_is_down_has_its_copies_until_a_restart_without_store(make_table: MakeTable) -> None:
    """Until when carriers had copies, which shows whether they had them until the lifetime ended."""

    def step(at_ms: int, kind: str, node: int, number: int) -> dict[str, Any]:
        return {**message(at_ms, kind, node, number, type="notification"), "origin": 3}

    steps = make_table(
        "messages",
        step(1_000, "replicated", 1, 1),  # down until the end
        step(1_000, "replicated", 2, 2),  # loses its store twice, first at 5,000
        step(1_000, "replicated", 2, 3),
        step(3_000, "dropped", 2, 3),
        step(1_000, "created", 3, 4),  # only the source has it
        step(1_000, "refused", 1, 5),
        step(1_000, "dropped", 1, 5),  # had no room for it
        step(1_000, "replicated", 2, 6),
        step(3_000, "stored", 1, 6),
        step(3_500, "dropped", 1, 6),
        step(5_000, "stored", 2, 7),  # after the restart at the same time
    )
    states = make_table(
        "node_state",
        {"at_ms": 2_000, "node": 1, "state": "down", "reason": "crash"},
        {"at_ms": 5_000, "node": 2, "state": "up", "reason": "restart_empty"},
        {"at_ms": 8_000, "node": 2, "state": "up", "reason": "restart_empty"},
    )
    found = copies_at_end(steps, states, Devices(3, {})).orderBy("number").collect()
    until = [row["carried_until_ms"] for row in found]
    assert until == [STILL_HELD_MS, 5_000, 3_000, None, None, 5_000, 8_000]
    assert [row["carried_left"] for row in found] == [True, *[False] * 6]


def test_ratio_counts_a_pair_once_for_any_number_of_subscriptions(
    spark: SparkSession, make_table: MakeTable
) -> None:
    found = outcomes(*story(spark, make_table), END_MS)
    assert rows(found.transform(pairs).transform(delivery_ratio)) == [
        {
            "expected": 5,
            "delivered": 2,
            "missed": 2,
            "open": 1,
            "lost": 0,
            "withdrawn": 0,
            "whole_delivered": 2,
            "ratio": 0.4,
            "whole_ratio": 0.5,
        }
    ]
    by_subscription = found.transform(delivery_ratio, "subscriber", "id").orderBy("subscriber", "id")
    assert [(r["subscriber"], r["id"], r["expected"], r["ratio"]) for r in rows(by_subscription)] == [
        (1, 0, 2, 0.5),
        (1, 1, 1, 1.0),
        (2, 0, 3, 1 / 3),
    ]


def test_the_ratio_by_group(spark: SparkSession, make_table: MakeTable) -> None:
    nodes = make_table("nodes", {"node": 1, "group": "medics"}, {"node": 2, "group": "drivers"})
    found = outcomes(*story(spark, make_table), END_MS).transform(pairs).transform(with_group, nodes)
    by_group = rows(found.transform(delivery_ratio, "group").orderBy("group"))
    assert [(row["group"], row["expected"], row["delivered"]) for row in by_group] == [
        ("drivers", 3, 1),
        ("medics", 2, 1),
    ]


def test_no_expected_deliveries_have_no_ratio(spark: SparkSession, make_table: MakeTable) -> None:
    nothing = outcomes(owed_frame(spark), make_table("messages").transform(deliveries), END_MS)
    assert rows(nothing.transform(delivery_ratio)) == [
        {
            "expected": 0,
            "delivered": 0,
            "missed": 0,
            "open": 0,
            "lost": 0,
            "withdrawn": 0,
            "whole_delivered": 0,
            "ratio": None,
            "whole_ratio": None,
        }
    ]


def test_a_repeated_and_an_unasked_delivery_are_counted(spark: SparkSession, make_table: MakeTable) -> None:
    delivered = make_table(
        "messages",
        message(1_000, "delivered", 1, 100),
        message(4_000, "delivered", 1, 100),
        message(4_000, "delivered", 2, 100),
        message(4_000, "delivered", 3, 100),
    ).transform(deliveries)
    owed = owed_frame(
        spark, owed_row(100, 0, 1, 0), owed_row(100, 0, 1, 1, first=False), owed_row(100, 0, 2, 0)
    )
    found = outcomes(owed, delivered, END_MS)
    counted = {
        (row["subscriber"], row["id"], row["first"], row["repeated"], row["unexpected"]): row["expected"]
        for row in found.transform(tally).collect()
    }
    assert counted == {
        (1, 0, True, True, False): 1,
        (1, 1, False, True, False): 1,
        (2, 0, True, False, False): 1,
        (3, None, True, False, True): 1,
    }
    whole = delivery_of(found.transform(tally).collect(), (), {})
    assert (whole.total.delivered, whole.repeated, whole.unexpected) == (2, 1, 1)
    assert {(row["subscriber"], row["outcome"], row["delivered_ms"]) for row in found.collect()} == {
        (1, "delivered", 1_000),
        (2, "delivered", 4_000),
        (3, "unexpected", 4_000),
    }
    assert found.transform(pairs).count() == 2


def test_time_is_counted_in_bins_by_event_and_by_delivery(spark: SparkSession, make_table: MakeTable) -> None:
    found = outcomes(*story(spark, make_table), END_MS).transform(pairs).transform(over_time, 1_000)
    assert [(row["bin"], row["expected"], row["delivered"]) for row in rows(found)] == [
        (1, 2, 0),
        (2, 0, 1),
        (3, 0, 1),
        (4, 1, 0),
        (5, 1, 0),
        (6, 1, 0),
    ]
