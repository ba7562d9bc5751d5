"""Contact and inter-contact times, with what the run's ends cut off."""

from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame

from spark_analysis.questions.contacts import contact_times, inter_contact_times, pairs_met, until

MakeTable = Callable[..., DataFrame]

END_MS = 10_000


def contact(a: int, b: int, begin_ms: float, end_ms: float) -> dict[str, Any]:
    return {"a": a, "b": b, "begin_ms": begin_ms, "end_ms": end_ms, "censored": end_ms >= END_MS}


def test_contacts_at_the_edges_of_the_run_are_censored(make_table: MakeTable) -> None:
    contacts = make_table(
        "contacts",
        contact(0, 1, 0.0, 500.0),
        contact(0, 1, 2_000.0, 2_750.5),
        contact(0, 2, 9_000.0, 10_000.0),
    )
    assert [tuple(row) for row in contact_times(contacts).orderBy("b", "time_ms").collect()] == [
        (0, 1, 500.0, True),
        (0, 1, 750.5, False),
        (0, 2, 1_000.0, True),
    ]
    assert pairs_met(contacts).first()["pairs_met"] == 2


def test_contacts_after_the_end_of_a_partial_run_did_not_happen(make_table: MakeTable) -> None:
    contacts = make_table(
        "contacts", contact(0, 1, 0.0, 500.0), contact(0, 1, 800.0, 2_000.0), contact(0, 1, 1_000.0, 3_000.0)
    )
    assert [tuple(row) for row in contacts.transform(until, 1_000).orderBy("begin_ms").collect()] == [
        (0, 1, 0.0, 500.0, False),
        (0, 1, 800.0, 1_000.0, True),
    ]


def test_gaps_follow_the_pair_and_the_last_one_is_censored(make_table: MakeTable) -> None:
    contacts = make_table(
        "contacts",
        contact(0, 1, 2_000.0, 3_000.0),
        contact(0, 2, 100.0, 200.0),
        contact(0, 1, 500.0, 1_000.0),
        contact(0, 2, 6_200.0, 10_000.0),
    )
    gaps = inter_contact_times(contacts, END_MS).orderBy("b", "time_ms").collect()
    assert [tuple(row) for row in gaps] == [
        (0, 1, 1_000.0, False),
        (0, 1, 7_000.0, True),
        (0, 2, 6_000.0, False),
    ]
