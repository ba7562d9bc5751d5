"""What should have been told: hand-made fates, every reading × every subscription against plain Python."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame

from knowledge_manager.mission_table import load_mission_table
from plugins.fuzzy.match import ALGORITHMS
from plugins.language import Matcher
from spark_analysis.languages import matcher
from spark_analysis.metrics.delivery import deliveries, outcomes
from spark_analysis.metrics.owed import SubscriptionRevision, owed, subscription_revisions
from spark_analysis.metrics.truth import (
    FATES,
    WANTED,
    ReadingSearch,
    fate_counts,
    fates,
    released_and_wanted,
    told_in_full,
    wanted,
)
from tests.spark_analysis.synthetic import EVENT, Row, Told, Wish, notification_vector, subscription_vector

MakeTable = Callable[..., DataFrame]

make_matcher = partial(matcher, load_mission_table(["medical"]))


def naive(language: int) -> Matcher:
    assert language == 1
    return ALGORITHMS["naive"](None, "subset", 1)


def revision(wish: Wish) -> SubscriptionRevision:
    return SubscriptionRevision(
        wish.subscriber,
        wish.id,
        wish.seq,
        1,
        wish.created_ms,
        wish.expires_ms,
        wish.withdrawn_ms,
        subscription_vector(wish),
        None,
    )


def readings_of(rows: list[Row]) -> pa.RecordBatch:
    kinds = {
        "node": pa.int32(),
        "event_number": pa.int32(),
        "event_ms": pa.int64(),
        "installed": pa.int32(),
        "released": pa.int32(),
        "held_back": pa.bool_(),
        "event": pa.int32(),
        "attributes": pa.binary(),
        "values": pa.binary(),
    }
    return pa.RecordBatch.from_pylist(rows, schema=pa.schema(list(kinds.items())))


def chance_wishes(chance: random.Random, count: int) -> list[Wish]:
    wishes = []
    for number in range(count):
        intervals = {}
        for attribute in chance.sample((0, 1, 3, 4), chance.randrange(1, 4)):
            low = chance.randrange(200)
            intervals[attribute] = (low, min(255, low + chance.randrange(20, 120)))
        created_ms = chance.randrange(1000)
        withdrawn_ms = created_ms + chance.randrange(900) if chance.random() < 0.3 else None
        life_ms = chance.randrange(1, 1500)
        wishes.append(
            Wish(number // 8, number % 8, 0, intervals, created_ms, created_ms + life_ms, withdrawn_ms)
        )
    return wishes


def chance_readings(chance: random.Random, count: int) -> tuple[list[Row], list[Told]]:
    rows, told = [], []
    for number in range(count):
        values = {a: chance.randrange(256) for a in (0, 1, 3, 4) if chance.random() < 0.8}
        mask = sum(1 << a for a in values)
        told.append(Told(9, number, chance.randrange(2000), values))
        rows.append(
            {
                "node": 9,
                "event_number": number,
                "event_ms": told[-1].at_ms,
                "installed": 1,
                "released": 0,
                "held_back": False,
                "event": EVENT,
                "attributes": bytes((mask,)),
                "values": bytes(values[a] for a in sorted(values)),
            }
        )
    return rows, told


def expected(wishes: list[Wish], told: list[Told]) -> list[tuple[int, int, int, int]]:
    found = []
    for one in told:
        for wish in wishes:
            until_ms = (
                wish.expires_ms if wish.withdrawn_ms is None else min(wish.expires_ms, wish.withdrawn_ms)
            )
            if wish.created_ms <= one.at_ms < until_ms and all(
                a in one.values and low <= one.values[a] <= high for a, (low, high) in wish.intervals.items()
            ):
                found.append((one.number, wish.subscriber, wish.id, wish.seq))
    return sorted(found)


@pytest.mark.parametrize(
    ("count", "make", "together"),
    [(40, naive, False), (300, make_matcher, False), (2500, make_matcher, True)],
)
def test_every_search_finds_what_plain_python_finds(
    count: int, make: Callable[[int], Matcher], together: bool
) -> None:
    chance = random.Random(count)
    wishes = chance_wishes(chance, count)
    rows, told = chance_readings(chance, 120)
    search = ReadingSearch([revision(wish) for wish in wishes], make)
    assert search._many is together
    batch = search.wanted_in(readings_of(rows))
    assert batch.schema.names == WANTED.names
    found = [(row["event_number"], row["subscriber"], row["id"], row["seq"]) for row in batch.to_pylist()]
    assert len(found) > 20
    assert sorted(found) == expected(wishes, told)
    assert set(batch["degree_u8"].to_pylist()) == {255}


def test_a_reading_told_in_full_is_the_vector_of_the_specification() -> None:
    told = Told(1, 0, 0, {0: 7, 3: 9})
    written = told_in_full(EVENT, bytes((0b1001,)), bytes((7, 9)))
    assert written is not None
    assert written[6:] == notification_vector(told)[6:]
    assert told_in_full(EVENT, b"\x00", b"") is None
    assert told_in_full(9, b"\x00\x01", b"\x05") == bytes(6) + b"\x05\x02\x00\x00\x01"


def step(kind: str, number: int, node: int, at_ms: int = 2_000, type_: str = "notification") -> Row:
    return {"kind": kind, "type": type_, "origin": 9, "number": number, "node": node, "at_ms": at_ms}


def test_every_fate_once(make_table: MakeTable) -> None:
    """One subscriber who wants everything above 100, and one reading of each fate at second one."""
    wish = Wish(1, 0, 0, {0: (100, 255)}, 0, 10_000, None)
    lifetimes = {1: 900, 2: 60_000, 3: 900, 4: 900, 5: 900}
    readings: list[dict[str, Any]] = [
        {"event_number": 1, "installed": 1, "released": 1},
        {"event_number": 2, "installed": 1, "released": 1},
        {"event_number": 3, "installed": 1, "released": 1},
        {"event_number": 4, "installed": 1, "released": 1},
        {"event_number": 5, "installed": 1, "released": 1},
        {"event_number": 6, "installed": 1, "suppressed": "interval"},
        {"event_number": 7, "installed": 1},
        {"event_number": 8},
        {"event_number": 9, "installed": 1, "released": 1, "values": b"\x05"},
        {"event_number": 10, "values": b"\x05"},
    ]
    common = {"at_ms": 1_000, "node": 9, "event": EVENT, "attributes": b"\x01", "values": b"\xc8"}
    decisions = make_table("filter_decisions", *({**common, **reading} for reading in readings))
    told = {n: Told(9, n, 1_000, {0: 200 if n < 9 else 5}) for n in (1, 2, 3, 4, 5, 9)}
    notifications = make_table(
        "notifications",
        *(
            {
                "at_ms": 1_000,
                "origin": 9,
                "number": n,
                "event_number": n,
                "language": 1,
                "lifetime_ms": lifetimes.get(n, 900),
                "vector": notification_vector(one),
            }
            for n, one in told.items()
        ),
    )
    messages = make_table(
        "messages",
        step("received", 1, 4),
        step("dropped", 1, 4),
        step("received", 1, 1, 2_500, "notify"),
        step("delivered", 1, 1, 2_500),
        step("received", 2, 4),
        step("received", 3, 4),
        step("expired", 3, 4),
        step("received", 4, 4),
        step("dropped", 4, 4),
        step("created", 5, 9),
        step("sent", 5, 9),
        step("delivered", 9, 1),
    )
    revisions = [revision(wish)]
    owing = notifications.transform(owed(revisions, make_matcher))
    became = outcomes(owing, messages.transform(deliveries), 5_000)
    should = decisions.transform(wanted(revisions, make_matcher)).cache()
    assert should.schema == WANTED
    rows = fates(should, became, notifications, messages).cache()
    assert {row["event_number"]: row["fate"] for row in rows.collect() if row["wanted"]} == dict(
        enumerate(FATES, start=1)
    )
    assert [tuple(row) for row in rows.where("not wanted").collect()] == [
        (9, 9, 1_000, 1, False, "delivered")
    ]
    counted = {(row["wanted"], row["fate"]): row["pairs"] for row in fate_counts(rows).collect()}
    assert counted == {(True, fate): 1 for fate in FATES} | {(False, "delivered"): 1}
    assert [row["readings"] for row in released_and_wanted(should).collect()] == [5]


def test_nothing_is_wanted_where_nobody_asks(make_table: MakeTable) -> None:
    decision = {"event": EVENT, "attributes": b"\x01", "values": b"\xc8"}
    decisions = make_table("filter_decisions", decision)
    revisions = subscription_revisions(
        make_table("subscriptions", {"language": 0, "vector": b"\x00\x01", "expires_ms": 10})
    )
    assert decisions.transform(wanted(revisions, make_matcher)).collect() == []
