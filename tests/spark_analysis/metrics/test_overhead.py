"""What the radio was used for, on tables that can be added up by hand."""

from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame

from spark_analysis.catalogue.evidence import Evidence
from spark_analysis.catalogue.members.bytes_per_delivery import bytes_per_delivery
from spark_analysis.catalogue.members.overhead_ratio import overhead_ratio
from spark_analysis.metrics.overhead import RadioUse, radio_use, traffic

MakeTable = Callable[..., DataFrame]


def step(kind: str, type_: str, bytes_: int, reason: str | None = None) -> dict[str, Any]:
    return {"kind": kind, "type": type_, "bytes": bytes_, "reason": reason}


def test_the_one_overhead_counts_transfers_beyond_one_for_each_delivery(make_table: MakeTable) -> None:
    messages = make_table(
        "messages",
        step("created", "notification", 40),
        *[step("sent", "notification", 40)] * 6,
        *[step("received", "notification", 40)] * 5,
        step("lost", "notification", 40, "contact_ended"),
        *[step("sent", "notify", 50)] * 3,
        *[step("received", "notify", 50)] * 3,
        *[step("delivered", "notification", 40)] * 2,
        step("duplicate", "notify", 50),
        *[step("sent", "hello", 20)] * 10,
        *[step("received", "hello", 20)] * 10,
    )
    use = radio_use(messages.transform(traffic).collect())
    assert use == RadioUse(8, 2, transmissions=19, bytes_on_air=6 * 40 + 3 * 50 + 10 * 20)
    assert (overhead_ratio(Evidence(radio=use)), bytes_per_delivery(Evidence(radio=use))) == (3.0, 295.0)


def test_what_one_node_saw_says_nothing_of_transfers_elsewhere(make_table: MakeTable) -> None:
    """It hears of deliveries by their receipts, and of the transfers before them only of its own."""
    messages = make_table(
        "messages",
        step("sent", "notification", 40),
        step("received", "notification", 40),
        *[step("delivered", "notification", 40)] * 3,
    )
    rows = messages.transform(traffic).collect()
    all_nodes = overhead_ratio(Evidence(radio=radio_use(rows)))
    assert all_nodes is not None
    assert all_nodes < 0
    seen = radio_use(rows, of_one_node=True)
    assert (overhead_ratio(Evidence(radio=seen)), seen.delivered, seen.relayed) == (None, 3, 1)


def test_traffic_is_counted_by_kind_type_and_reason(make_table: MakeTable) -> None:
    messages = make_table(
        "messages",
        step("lost", "hello", 20, "radio"),
        step("lost", "hello", 21, "radio"),
        step("lost", "hello", 22, "contact_ended"),
        step("sent", "hello", 23),
    )
    assert [tuple(row) for row in messages.transform(traffic).collect()] == [
        ("lost", "hello", "contact_ended", 1, 22),
        ("lost", "hello", "radio", 2, 41),
        ("sent", "hello", None, 1, 23),
    ]


def test_without_deliveries_there_is_no_ratio(make_table: MakeTable) -> None:
    for messages in (make_table("messages"), make_table("messages", step("sent", "hello", 20))):
        use = radio_use(messages.transform(traffic).collect())
        assert use.delivered == 0
        assert overhead_ratio(Evidence(radio=use)) is bytes_per_delivery(Evidence(radio=use)) is None
