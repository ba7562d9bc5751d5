"""Readings that should have been delivered: one of every outcome, and many at random, counted in two ways."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from pyspark.sql import DataFrame

from knowledge_manager.mission_table import load_mission_table
from spark_analysis.devices import Devices
from spark_analysis.metrics.delivery import copies_at_end, deliveries, outcomes
from spark_analysis.metrics.expected import SubscriptionRevision, expected_deliveries
from spark_analysis.metrics.run_languages import RunLanguages
from spark_analysis.metrics.truth import (
    FATES,
    JUDGED,
    WANTED,
    fate_counts,
    fates,
    judged,
    released_and_wanted,
    wanted,
)
from tests.spark_analysis.synthetic import EVENT, Row, Told, Wish, notification_vector, subscription_vector

MakeTable = Callable[..., DataFrame]

run_languages = RunLanguages(load_mission_table(["medical"]))


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


def step(kind: str, number: int, node: int, at_ms: int = 2_000, type_: str = "notification") -> Row:
    return {"kind": kind, "type": type_, "origin": 9, "number": number, "node": node, "at_ms": at_ms}


def test_every_fate_once(make_table: MakeTable) -> None:
    """One subscriber who wants everything above 100, and one reading of each fate at second one."""
    wish = Wish(1, 0, 0, {0: (100, 255)}, 0, 10_000, None)
    brief = Wish(2, 0, 0, {0: (99, 99)}, 0, 10_000, 1_500)
    lifetimes = {2: 60_000, 3: 60_000, 5: 2_000}
    readings: list[dict[str, Any]] = [
        {"event_number": 1, "installed": 1, "released": 1},
        {"event_number": 2, "installed": 1, "released": 1},
        {"event_number": 3, "installed": 1, "released": 1, "values": b"\x63"},
        {"event_number": 4, "installed": 1, "released": 1},
        {"event_number": 5, "installed": 1, "released": 1},
        {"event_number": 6, "installed": 1, "released": 1},
        {"event_number": 7, "installed": 1, "suppressed": "interval"},
        {"event_number": 8, "installed": 1},
        {"event_number": 9},
        {"event_number": 10, "installed": 1, "released": 1, "values": b"\x05"},
        {"event_number": 11, "values": b"\x05"},
    ]
    common = {"at_ms": 1_000, "node": 9, "event": EVENT, "attributes": b"\x01", "values": b"\xc8"}
    decisions = make_table("filter_decisions", *({**common, **reading} for reading in readings))
    values = {3: 99, 10: 5}
    told = {n: Told(9, n, 1_000, {0: values.get(n, 200)}) for n in (1, 2, 3, 4, 5, 6, 10)}
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
                "event": EVENT,
            }
            for n, one in told.items()
        ),
    )
    messages = make_table(
        "messages",
        step("stored", 1, 4),
        step("dropped", 1, 4),
        step("received", 1, 1, 2_500, "notify"),
        step("delivered", 1, 1, 2_500),
        step("stored", 2, 4),
        step("replicated", 2, 5),
        step("dropped", 2, 5, 2_100),
        step("stored", 3, 4),
        step("stored", 4, 4),
        step("replicated", 4, 5),
        step("dropped", 4, 5, 2_100),
        step("expired", 4, 4, 2_100),
        step("created", 5, 9),
        step("stored", 5, 4),
        step("dropped", 5, 4, 2_100),
        step("expired", 5, 9, 2_200),
        step("created", 6, 9),
        step("sent", 6, 9),
        step("delivered", 10, 1),
    )
    revisions = [revision(wish), revision(brief)]
    copies = copies_at_end(messages, make_table("node_state"), Devices(9, {}))
    owing = notifications.transform(expected_deliveries(revisions, run_languages))
    became = outcomes(owing, messages.transform(deliveries), 5_000, copies)
    packed = decisions.transform(judged(revisions, run_languages)).cache()
    should = packed.transform(wanted(revisions))
    assert (packed.schema, should.schema) == (JUDGED, WANTED)
    rows = fates(should, became, notifications, messages, copies).cache()
    assert {row["event_number"]: row["fate"] for row in rows.collect() if row["wanted"]} == dict(
        enumerate(FATES, start=1)
    )
    assert [tuple(row) for row in rows.where("not wanted").collect()] == [
        (9, EVENT, 10, 1_000, 1, False, "delivered")
    ]
    counted = fate_counts(packed, revisions, became, notifications, messages, copies).collect()
    assert {(row["wanted"], row["fate"]): row["pairs"] for row in counted} == {
        **{(True, fate): 1 for fate in FATES},
        (False, "delivered"): 1,
    }
    assert [row["readings"] for row in released_and_wanted(packed).collect()] == [6]
    plain = fates(should, became, notifications, messages, copies, plain=[1])
    assert {row["fate"] for row in plain.collect() if row["event_number"] <= 6} == {"not_asked_for_this"}
    assert not plain.where("not wanted").count(), "a plain message is not unwanted"


def test_fates_of_copies_in_devices_that_are_down_and_of_refusals(make_table: MakeTable) -> None:
    """Node 4 is down from before the end of the lifetimes on; node 5 has no room."""
    wish = Wish(1, 7, 0, {0: (100, 255)}, 0, 50_000, None)
    cases = {
        1: ("too_late", [step("stored", 1, 4)]),
        2: ("dropped", [step("stored", 2, 6)]),  # lost with its store before
        3: ("too_late", [step("stored", 3, 7)]),  # lost with its store afterwards
        4: ("never_carried", [step("refused", 4, 5), step("dropped", 4, 5)]),  # in a batch
        5: ("never_carried", [step("received", 5, 5), step("refused", 5, 5), step("dropped", 5, 5)]),
        6: ("dropped", [step("delivered", 6, 2)]),  # another subscriber had it
        7: ("dropped", [step("stored", 7, 4), step("dropped", 7, 4, 2_100)]),
        8: ("too_late", [step("stored", 8, 4), step("dropped", 8, 4, 2_900)]),
    }
    told = {number: Told(9, number, 1_000, {0: 200}) for number in cases}
    notifications = make_table(
        "notifications",
        *(
            {
                "at_ms": 1_000,
                "origin": 9,
                "number": number,
                "event_number": number,
                "language": 1,
                "lifetime_ms": 1_500,
                "vector": notification_vector(reading),
                "event": EVENT,
            }
            for number, reading in told.items()
        ),
    )
    messages = make_table("messages", *(row for _, rows in cases.values() for row in rows))
    states = make_table(
        "node_state",
        {"at_ms": 2_200, "node": 4, "state": "down", "reason": "crash"},
        {"at_ms": 2_400, "node": 6, "state": "up", "reason": "restart_empty"},
        {"at_ms": 2_600, "node": 7, "state": "up", "reason": "restart_empty"},
    )
    revisions = [revision(wish)]
    copies = copies_at_end(messages, states, Devices(9, {}))
    owing = notifications.transform(expected_deliveries(revisions, run_languages))
    became = outcomes(owing, messages.transform(deliveries), 5_000, copies)
    nothing = make_table("filter_decisions").transform(judged(revisions, run_languages))
    rows = fates(nothing.transform(wanted(revisions)), became, notifications, messages, copies).collect()
    assert {row["event_number"]: row["fate"] for row in rows if row["subscriber"] == 1} == {
        number: fate for number, (fate, _) in cases.items()
    }


def test_counting_gives_what_the_rows_of_all_pairs_give(make_table: MakeTable) -> None:
    """Readings at random, some published and some delivered; subscriptions of one person count once."""
    chance = random.Random(8)
    wishes = [
        Wish(chance.randrange(4), number, 0, {0: (low := chance.randrange(200), low + 55)}, 0, 50_000, None)
        for number in range(20)
    ]
    decisions, notifications, messages = [], [], []
    for number in range(120):
        released = chance.random() < 0.4
        value = chance.randrange(256)
        decisions.append(
            {
                "at_ms": 100 * number,
                "node": 9,
                "event_number": number,
                "event": EVENT,
                "attributes": b"\x01",
                "values": bytes((value,)),
                "installed": chance.randrange(2),
                "released": int(released),
                "suppressed": None if released or chance.random() < 0.7 else "interval",
            }
        )
        if released:
            told = Told(9, number, 100 * number, {0: value})
            notifications.append(
                {
                    "at_ms": told.at_ms,
                    "origin": 9,
                    "number": number,
                    "event_number": number,
                    "language": 1,
                    "lifetime_ms": chance.choice((500, 90_000)),
                    "vector": notification_vector(told),
                    "event": EVENT,
                }
            )
            for subscriber in range(4):
                if chance.random() < 0.3:
                    messages.append(step("delivered", number, subscriber, told.at_ms + 50))
            if chance.random() < 0.5:
                messages.append(step("stored", number, 30, told.at_ms + 20))
                if chance.random() < 0.5:
                    end = chance.choice(("dropped", "expired"))
                    messages.append(step(end, number, 30, told.at_ms + 500))
    revisions = [revision(wish) for wish in wishes]
    told_ones, steps = make_table("notifications", *notifications), make_table("messages", *messages)
    became = outcomes(
        told_ones.transform(expected_deliveries(revisions, run_languages)),
        steps.transform(deliveries),
        12_000,
    )
    packed = make_table("filter_decisions", *decisions).transform(judged(revisions, run_languages)).cache()
    copies = copies_at_end(steps, make_table("node_state"), Devices(9, {}))
    rows = fates(packed.transform(wanted(revisions)), became, told_ones, steps, copies).collect()
    counted = fate_counts(packed, revisions, became, told_ones, steps, copies).collect()
    by_row = Counter((row["wanted"], row["fate"]) for row in rows)
    assert len(by_row) > 7
    assert {(row["wanted"], row["fate"]): row["pairs"] for row in counted} == by_row
    first = {row["event_number"]: row for row in packed.collect()}
    for number, row in first.items():
        value = decisions[number]["values"][0]
        asking = [wish for wish in wishes if wish.intervals[0][0] <= value <= wish.intervals[0][1]]
        assert row["subscribers"] == len({wish.subscriber for wish in asking})
        positions = np.frombuffer(row["revisions"], "<u4")
        assert sorted(positions) == [wishes.index(wish) for wish in asking]
        assert set(row["degrees"]) == {255}


def test_nothing_matches_without_subscriptions(make_table: MakeTable) -> None:
    decision = {"event": EVENT, "attributes": b"\x01", "values": b"\xc8"}
    decisions = make_table("filter_decisions", decision)
    revisions = (SubscriptionRevision(0, 0, 0, 0, 0, 10, None, b"\x00\x01", None),)
    nobody = decisions.transform(judged(revisions, run_languages))
    assert nobody.collect() == []
    assert nobody.transform(wanted(revisions)).collect() == []
