"""Expected deliveries: the time rule on hand-made rows, and the whole of it against plain Python."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from pyspark.sql import DataFrame

from knowledge_manager.mission_table import load_mission_table
from spark_analysis.metrics.expected import SubscriptionRevision, expected_deliveries, subscription_revisions
from spark_analysis.metrics.expected_schema import EXPECTED
from spark_analysis.metrics.run_languages import RunLanguages
from tests.spark_analysis import oracle
from tests.spark_analysis.synthetic import Told, Wish, notification_vector, subscription_vector, synthetic_run

MakeTable = Callable[..., DataFrame]

run_languages = RunLanguages(load_mission_table(["medical"]))


def subscription(**more: Any) -> dict[str, Any]:
    wish = Wish(1, 7, 0, {0: (100, 200)}, 0, 0, None)
    known = {"subscriber": 1, "id": 7, "language": 1, "vector": subscription_vector(wish)}
    return {**known, "withdrawn_ms": None, "document": None, **more}


def notification(at_ms: int, value: int = 150, **more: Any) -> dict[str, Any]:
    vector = notification_vector(Told(9, 5, at_ms, {0: value, 1: 3}))
    return {"origin": 9, "number": 5, "at_ms": at_ms, "language": 1, "vector": vector, **more}


@pytest.mark.parametrize(
    ("event_ms", "withdrawn_ms", "expected"),
    [
        (999, None, False),
        (1_000, None, True),
        (1_999, None, True),
        (2_000, None, False),
        (1_499, 1_500, True),
        (1_500, 1_500, False),
    ],
)
def test_a_subscription_is_in_force_from_creation_to_expiry_or_withdrawal(
    event_ms: int, withdrawn_ms: int | None, expected: bool
) -> None:
    revision = SubscriptionRevision(1, 7, 0, 1, 1_000, 2_000, withdrawn_ms, b"", None)
    assert revision.in_force(event_ms) is expected


def test_timely_match_is_expected_once_per_revision(make_table: MakeTable) -> None:
    revisions = subscription_revisions(
        [
            subscription(seq=1, created_ms=1_500, expires_ms=9_000),
            subscription(seq=0, created_ms=1_000, expires_ms=2_000, withdrawn_ms=1_900),
        ]
    )
    assert [revision.seq for revision in revisions] == [0, 1]
    notifications = make_table(
        "notifications",
        notification(1_200, number=1, lifetime_ms=60),
        notification(1_700, number=2),
        notification(1_700, number=3, value=201),
        notification(1_700, number=4, language=0),
        notification(2_500, number=5),
        notification(9_000, number=6),
    )
    found = notifications.transform(expected_deliveries(revisions, run_languages))
    assert found.schema == EXPECTED
    assert sorted(tuple(row) for row in found.collect()) == [
        (9, 1, 1_200, 60, 1, 1, 7, 0, 255, True, 1_900),
        (9, 2, 1_700, 0, 1, 1, 7, 0, 255, True, None),
        (9, 2, 1_700, 0, 1, 1, 7, 1, 255, False, None),
        (9, 5, 2_500, 0, 1, 1, 7, 1, 255, True, None),
    ]


def test_nothing_is_expected_without_subscriptions_or_notifications(make_table: MakeTable) -> None:
    revisions = subscription_revisions([subscription(created_ms=0, expires_ms=10, seq=0)])
    assert (
        make_table("notifications").transform(expected_deliveries(revisions, run_languages)).collect() == []
    )
    assert (
        make_table("notifications", notification(1))
        .transform(expected_deliveries((), run_languages))
        .collect()
        == []
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_all_of_it_agrees_with_plain_python(make_table: MakeTable, seed: int) -> None:
    run = synthetic_run(seed)
    revisions = subscription_revisions(run.tables["subscriptions"])
    found = make_table("notifications", *run.tables["notifications"]).transform(
        expected_deliveries(revisions, run_languages)
    )
    rows = found.select("origin", "number", "subscriber", "id", "seq", "first").collect()
    assert len(rows) > 50
    assert sorted(tuple(row)[:5] for row in rows) == sorted(oracle.owed_rows(run))
    # Exactly one row of each pair is its first.
    assert sorted(tuple(row)[:3] for row in rows if row["first"]) == sorted(oracle.pending_pairs(run))


def test_several_rows_of_a_revision_say_one_thing_in_any_order() -> None:
    rows = [
        subscription(seq=0, created_ms=1_000, expires_ms=2_000),
        subscription(seq=0, created_ms=1_000, expires_ms=5_000),
        subscription(seq=0, created_ms=1_000, expires_ms=2_000, withdrawn_ms=4_000),
        subscription(seq=1, created_ms=4_500, expires_ms=6_000),
    ]
    for order in permutations(rows):
        old, new = subscription_revisions(order)
        assert (old.created_ms, old.expires_ms, old.withdrawn_ms) == (1_000, 5_000, 4_000)
        assert (new.created_ms, new.expires_ms, new.withdrawn_ms) == (4_500, 6_000, None)
