"""Documents that should have been delivered: by the language's own matcher, against plain comparisons."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from knowledge_manager.mission_table import load_mission_table
from plugins.direct.language import notification_for, subscription_to
from spark_analysis.answers import analyse
from spark_analysis.metrics.documents import matched_documents
from spark_analysis.metrics.expected import SubscriptionRevision
from spark_analysis.metrics.run_languages import RunLanguages
from spark_analysis.metrics.truth import JUDGED, wanted
from spark_analysis.report.page import page
from spark_analysis.run import open_run
from tests.spark_analysis.metrics.test_truth import revision, step
from tests.spark_analysis.synthetic import Told, Wish, notification_vector, subscription_vector

MakeTable = Callable[..., DataFrame]
WriteRun = Callable[..., Path]

run_languages = RunLanguages(load_mission_table(["medical"]))


def document(number: int, at_ms: int, value: int, **facts: int) -> dict[str, Any]:
    vector = notification_vector(Told(9, number, at_ms, {0: value}))
    row = {"at_ms": at_ms, "node": 9, "event_number": number, "language": 1, "vector": vector}
    return {**row, "installed": 0, "released": 0, **facts}


def test_documents_are_expected_by_subscribers_of_that_time(make_table: MakeTable) -> None:
    chance = random.Random(3)
    wishes = [
        Wish(
            chance.randrange(3),
            number,
            0,
            {0: (low := chance.randrange(200), low + 55)},
            begin := chance.randrange(3_000),
            begin + chance.randrange(1, 5_000),
            chance.choice((None, begin + 700)),
        )
        for number in range(12)
    ]
    offered = [document(number, 40 * number, chance.randrange(256)) for number in range(100)]
    revisions = [
        *map(revision, wishes),
        SubscriptionRevision(5, 0, 0, 0, 0, 9_000, None, subscription_to(5, 0, 0, 100), None),
    ]
    bytes_for_5 = {**document(200, 10, 0), "language": 0, "vector": notification_for(5, b"hello")}
    frame = make_table("documents", *offered, bytes_for_5)
    found = frame.transform(matched_documents(revisions, run_languages)).cache()
    assert found.schema == JUDGED
    rows = {row["event_number"]: row for row in found.collect()}

    expected = {}
    for row in offered:
        value = row["vector"][6]
        asking = [
            position
            for position, wish in enumerate(wishes)
            if wish.intervals[0][0] <= value <= wish.intervals[0][1]
            and wish.created_ms <= row["at_ms"] < wish.expires_ms
            and (wish.withdrawn_ms is None or row["at_ms"] < wish.withdrawn_ms)
        ]
        if asking:
            expected[row["event_number"]] = asking
    expected[200] = [len(wishes)]
    assert {number: np.frombuffer(row["revisions"], "<u4").tolist() for number, row in rows.items()} == (
        expected
    )
    for number, positions in expected.items():
        assert rows[number]["subscribers"] == len({revisions[one].subscriber for one in positions})
    assert found.transform(wanted(revisions)).count() == sum(map(len, expected.values())) > 50


def run_tables() -> dict[str, list[dict[str, Any]]]:
    """One subscriber who wants everything above 100; four documents that concern it and two that do not."""
    wish = Wish(1, 0, 0, {0: (100, 255)}, 0, 3_600_000, None)
    documents = [
        document(1, 1_000, 200, installed=1, released=1),
        document(2, 2_000, 200, installed=1, released=1),
        document(3, 3_000, 200, installed=1),
        document(4, 4_000, 200),
        document(5, 5_000, 20, installed=1, released=1),
        document(6, 6_000, 20),
    ]
    return {
        "nodes": [
            {"node": 1, "name": "medics-1", "group": "medics", "role": "subscriber"},
            {"node": 9, "name": "desks-1", "group": "desks", "role": "publisher"},
        ],
        "subscriptions": [
            {
                "subscriber": 1,
                "id": 0,
                "seq": 0,
                "language": 1,
                "created_ms": 0,
                "expires_ms": 3_600_000,
                "withdrawn_ms": None,
                "vector": subscription_vector(wish),
                "document": "subscription.xml",
            }
        ],
        "documents": documents,
        "notifications": [
            {
                "at_ms": row["at_ms"],
                "origin": 9,
                "number": row["event_number"],
                "language": 1,
                "event_number": row["event_number"],
                "lifetime_ms": 60_000,
                "vector": row["vector"],
                "event": None,
            }
            for row in documents
            if row["released"]
        ],
        "messages": [
            {"language": 1, "bytes": 20, "hops": 1, "age_ms": 0, "peer": None, "reason": None, **one}
            for one in (
                step("stored", 1, 4),
                step("delivered", 1, 1, 2_500),
                step("stored", 2, 4),
                step("expired", 2, 4, 62_000),
            )
        ],
    }


def test_unreleased_document_is_counted_at_its_source(write_run: WriteRun, spark: SparkSession) -> None:
    found = analyse(open_run(write_run(run_tables()), spark))
    truth = found.truth
    assert (truth.delivered, truth.too_late) == (1, 1)
    assert (truth.not_asked_for_this, truth.not_asked) == (1, 1), "not released at source"
    assert (truth.wanted, truth.recall, truth.released_in_vain) == (4, 0.25, 1)
    assert found.run.documents == 6
    shown = page(found)
    assert "Every reading and document was matched" in shown
    assert "1 readings or documents left their source although no subscription matched them" in shown


def test_fates_of_documents_and_readings_are_counted_together(
    write_run: WriteRun, spark: SparkSession
) -> None:
    tables = run_tables()
    reading = {
        "at_ms": 7_000, "node": 9, "event_number": 7, "event": 0, "attributes": b"\x01", "values": b"\xc8",
        "installed": 1, "released": 0, "degree_u8": 0, "suppressed": "interval", "cost_us": 0.0,
        "exact": None,
    }  # fmt: skip
    run = open_run(write_run({**tables, "filter_decisions": [reading]}), spark)
    fates = Counter((row["wanted"], row["fate"]) for row in run.fates().collect())
    assert fates == {
        (True, "delivered"): 1,
        (True, "too_late"): 1,
        (True, "not_asked_for_this"): 1,
        (True, "not_asked"): 1,
        (True, "held_back"): 1,
    }
    assert analyse(run).truth.held_back == 1
