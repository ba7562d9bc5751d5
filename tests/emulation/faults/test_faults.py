"""Batteries run empty, boards are slow, devices crash, frames are lost and flipped, clocks jump."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from emulation.devices.board_profile import load_board_profile
from emulation.run import run_scenario
from emulation.scenario import load_scenario

WriteScenario = Callable[..., Path]
Tables = dict[str, list[dict[str, Any]]]
LONG = 7200
"""Until then a patient has a fever; whatever needs none is over after half an hour."""


@pytest.fixture
def run(write_scenario: WriteScenario, tmp_path: Path) -> Callable[..., Tables]:
    """Run the small scenario with a text added at its end, and return its tables."""
    runs = 0

    def run(more: str = "", *changes: tuple[str, str], seed: int = 5, length_s: int = 1800) -> Tables:
        nonlocal runs
        runs += 1
        path = write_scenario(("duration_s = 3600", f"duration_s = {length_s}"), *changes)
        path.write_text(path.read_text() + more)
        out = tmp_path / f"run-{runs}"
        run_scenario(load_scenario(path), seed, out)
        return {table.name: pq.read_table(table).to_pylist() for table in (out / "trace").iterdir()}

    return run


def states(tables: Tables) -> list[tuple[int, int, str, str]]:
    return [(row["at_ms"], row["node"], row["state"], row["reason"]) for row in tables["node_state"]][8:]


def said(tables: Tables, node: int, begin_ms: int, end_ms: int) -> list[dict[str, Any]]:
    """What a node sent, heard or did in [begin, end)."""
    return [
        row
        for row in tables["messages"]
        if begin_ms <= row["at_ms"] < end_ms and row["node"] == node and row["kind"] not in ("lost",)
    ]


GREETINGS = ("hello", "summary")
HELPER = 2
"""The number of helpers-1."""


def test_geometry_is_the_same_whatever_happens_to_nodes(run: Callable[..., Tables]) -> None:
    calm = run()
    faulty = run('[[fault]]\nkind = "crash"\nevery_s = 300\nfor_s = 60\n')
    assert len(states(faulty)) > 10
    assert calm["contacts"] == faulty["contacts"]
    assert calm["motion"] == faulty["motion"]
    assert calm["messages"] != faulty["messages"]


@pytest.mark.parametrize("store", ["kept", "lost"])
def test_a_crashed_node_is_silent_and_comes_back(run: Callable[..., Tables], store: str) -> None:
    tables = run(
        f'[[fault]]\nkind = "crash"\nwho = ["helpers-1"]\nat_s = 600\nfor_s = 300\nstore = "{store}"\n'
    )
    word = "restart" if store == "kept" else "restart_empty"
    assert states(tables) == [(600_000, HELPER, "down", "crash"), (900_000, HELPER, "up", word)]
    assert said(tables, HELPER, 0, 600_000)
    assert not said(tables, HELPER, 600_001, 900_000)
    assert said(tables, HELPER, 900_000, 1_800_000)
    held = [row for row in tables["buffers"] if row["node"] == HELPER]
    before = [row for row in held if row["at_ms"] < 600_000][-1]
    after = [row for row in held if row["at_ms"] <= 900_000][-1]
    assert before["subscriptions"] == 2
    assert after["subscriptions"] == (2 if store == "kept" else 0)


def test_a_device_that_does_not_come_back_stays_down(run: Callable[..., Tables]) -> None:
    tables = run('[[fault]]\nkind = "crash"\nwho = ["patients"]\nat_s = 600\n')
    assert [row[1:] for row in states(tables)] == [(number, "down", "crash") for number in (5, 6, 7)]
    assert max(row["at_ms"] for row in tables["filter_decisions"]) < 600_000


def test_a_subscriber_that_lost_everything_asks_again(run: Callable[..., Tables]) -> None:
    tables = run('[[fault]]\nkind = "crash"\nwho = ["medics-1"]\nat_s = 300\nfor_s = 60\nstore = "lost"\n')
    asked = [(row["created_ms"], row["seq"]) for row in tables["subscriptions"] if row["subscriber"] == 0]
    assert asked == [(0, 0), (360_000, 1)]


def test_what_an_application_wants_while_its_device_is_down_it_asks_afterwards(
    run: Callable[..., Tables],
) -> None:
    late = ('file = "fever.xml"', 'file = "fever.xml"\nat_s = 330')
    tables = run('[[fault]]\nkind = "crash"\nwho = ["medics-1"]\nat_s = 300\nfor_s = 60\n', late)
    assert [(row["subscriber"], row["created_ms"]) for row in tables["subscriptions"]] == [
        (1, 330_000),
        (0, 360_000),
    ]


def test_a_device_with_several_roles_goes_down_as_one(run: Callable[..., Tables]) -> None:
    both = ('role = "mediator"\ncount = 3', 'role = ["mediator", "subscriber"]\ncount = 3')
    tables = run('[[fault]]\nkind = "crash"\nwho = ["helpers-1"]\nat_s = 600\nfor_s = 300\n', both)
    rows = [(row["at_ms"], row["node"], row["state"]) for row in tables["node_state"] if row["at_ms"]]
    assert rows == [
        (600_000, 2, "down"), (600_000, 8, "down"), (900_000, 2, "up"), (900_000, 8, "up"),
    ]  # fmt: skip


def test_everything_still_arrives_once_through_crashes(run: Callable[..., Tables]) -> None:
    tables = run('[[fault]]\nkind = "crash"\nevery_s = 600\nfor_s = 20\n', length_s=LONG)
    delivered = [
        (row["node"], row["origin"], row["number"])
        for row in tables["messages"]
        if row["kind"] == "delivered"
    ]
    assert len(delivered) > 20
    assert len(delivered) == len(set(delivered))


def test_a_partition_cuts_off_and_heals(run: Callable[..., Tables]) -> None:
    tables = run('[[fault]]\nkind = "partition"\nwho = ["patients"]\nat_s = 600\nfor_s = 600\n')
    across = [
        row["at_ms"]
        for row in tables["messages"]
        if row["kind"] == "received" and (row["node"] >= 5) != (row["peer"] >= 5)
    ]
    assert min(across) < 600_000
    assert not [at_ms for at_ms in across if 600_000 < at_ms < 1_200_000]
    assert max(across) > 1_200_000
    within = [row for row in said(tables, 2, 600_001, 1_200_000) if row["kind"] == "received"]
    assert within


def test_frames_are_lost_for_a_while(run: Callable[..., Tables]) -> None:
    sure = ("loss = 0.05", "loss = 0.0")
    tables = run('[[fault]]\nkind = "loss"\nshare = 0.5\nat_s = 600\nfor_s = 600\n', sure)
    lost = [row["at_ms"] for row in tables["messages"] if (row["kind"], row["reason"]) == ("lost", "fault")]
    got = [row["at_ms"] for row in tables["messages"] if row["kind"] == "received"]
    assert min(lost) >= 600_000
    assert max(lost) < 1_200_000
    in_time = [at_ms for at_ms in got if 600_000 <= at_ms < 1_200_000]
    assert len(lost) / (len(lost) + len(in_time)) == pytest.approx(0.5, abs=0.1)


def test_flipped_bits_are_noticed_where_there_is_a_key(run: Callable[..., Tables]) -> None:
    key = ("[radio.handheld]", '[security]\nmission_key = "a key for this test"\n\n[radio.handheld]')
    tables = run('[[fault]]\nkind = "corrupt"\nshare = 0.3\n', key, length_s=LONG)
    refused = [row for row in tables["messages"] if row["kind"] == "refused"]
    received = [row for row in tables["messages"] if row["kind"] == "received"]
    assert len(refused) / len(received) == pytest.approx(0.3, abs=0.07)
    delivered = [row for row in tables["messages"] if row["kind"] == "delivered"]
    assert delivered


def test_clocks_that_jump_change_no_time_in_the_trace(run: Callable[..., Tables]) -> None:
    tables = run('[[fault]]\nkind = "clock"\nat_s = 0\njump_s = 7200\nwho = ["helpers"]\n', length_s=LONG)
    assert max(row["at_ms"] for row in tables["messages"]) < 7_200_000
    assert min(row["at_ms"] for row in tables["messages"]) >= 0
    assert min(row["age_ms"] for row in tables["messages"]) >= 0
    assert max(row["age_ms"] for row in tables["messages"]) < 7_200_000
    assert [row for row in tables["messages"] if row["kind"] == "delivered"]
    timeless = [row["at_ms"] for row in tables["messages"]]
    assert timeless == sorted(timeless)


def test_a_clock_that_jumps_while_its_node_computes_changes_no_time_either(
    run: Callable[..., Tables],
) -> None:
    slow = ('radio = "handheld"\nmobility', 'radio = "handheld"\nboard = "slow"\nmobility')
    jumps = '[[fault]]\nkind = "clock"\nevery_s = 5\njump_s = {}\n[board.slow]\nmessage_us = 400000\n'
    for jump_s in (-600, 600):
        tables = run(jumps.format(jump_s), slow)
        times = [row["at_ms"] for row in tables["messages"]]
        assert len(times) > 700
        last = 0
        for at_ms in times:  # an event that waited for its node has its own time, a little earlier
            assert at_ms > last - 60_000
            last = max(last, at_ms)
        assert min(times) >= 0
        assert max(times) < 1_800_000


ENERGY = (
    "[energy.coin]\nbattery_j = {battery}\nidle_w = 0.01\nsend_j_per_byte = 1e-4\nreceive_j_per_byte = 5e-5\n"
)
ON_COINS = ('role = "mediator"', 'role = "mediator"\nenergy = "coin"')


def test_an_empty_battery_stops_the_node(run: Callable[..., Tables]) -> None:
    tables = run(ENERGY.format(battery=10.0), ON_COINS)
    down = {
        node: at_ms for at_ms, node, state, reason in states(tables) if (state, reason) == ("down", "battery")
    }
    assert set(down) == {2, 3, 4}
    for node, at_ms in down.items():
        assert 100_000 < at_ms < 1_000_000  # idling alone takes a thousand seconds
        last = [row for row in tables["energy"] if row["node"] == node and row["at_ms"] <= at_ms][-1]
        assert last["battery_j"] == 0.0
        sent = sum(
            row["bytes"] for row in tables["messages"] if row["kind"] == "sent" and row["node"] == node
        )
        heard = sum(
            row["bytes"] for row in tables["messages"] if row["kind"] == "received" and row["node"] == node
        )
        lost = sum(
            row["bytes"] for row in tables["messages"] if row["kind"] == "lost" and row["peer"] == node
        )
        assert last["idle_j"] == pytest.approx(at_ms / 1000 * 0.01, rel=1e-6)
        assert sent * 1e-4 + heard * 5e-5 <= last["radio_j"] + 1e-9
        assert last["radio_j"] <= sent * 1e-4 + (heard + lost) * 5e-5 + 1e-9
        assert last["idle_j"] + last["radio_j"] == pytest.approx(10.0, abs=0.05)
        assert not said(tables, node, at_ms + 1, 1_800_000)


def test_a_device_that_was_down_when_it_would_have_run_empty_runs_empty_later(
    run: Callable[..., Tables],
) -> None:
    alone = ("range_m = 50", "range_m = 0.5")
    crash = '[[fault]]\nkind = "crash"\nwho = ["helpers-1"]\nat_s = 450\nfor_s = 100\n'
    tables = run(ENERGY.format(battery=5.0) + crash, ON_COINS, alone)
    assert [row for row in states(tables) if row[1] == HELPER] == [
        (450_000, HELPER, "down", "crash"),
        (550_000, HELPER, "up", "restart"),
        (600_000, HELPER, "down", "battery"),
    ]


def test_without_a_battery_energy_is_counted_only(run: Callable[..., Tables]) -> None:
    tables = run(ENERGY.format(battery=10.0).replace("battery_j = 10.0\n", ""), ON_COINS)
    assert states(tables) == []
    assert {row["battery_j"] for row in tables["energy"]} == {None}
    last = max(row["at_ms"] for row in tables["energy"])
    assert last == 1_799_999
    assert [row["idle_j"] for row in tables["energy"] if row["at_ms"] == last] == [
        pytest.approx(17.99999)
    ] * 3


def test_boards_take_their_time_and_say_what_it_was(run: Callable[..., Tables]) -> None:
    board = (
        "[board.slow]\nreading_us = 5000\nsubscription_us = 1000\nmembership_us = 700\nmessage_us = 250000\n"
    )
    slow = ('radio = "handheld"\nmobility', 'radio = "handheld"\nboard = "slow"\nmobility')
    tables = run(board, slow, length_s=LONG)
    assert any(row["memberships"] for row in tables["matching_work"])
    for row in tables["matching_work"]:
        assert row["cost_us"] == 700.0 * row["memberships"]
    assert max(row["installed"] for row in tables["filter_decisions"]) == 2
    for row in tables["filter_decisions"]:  # both want the same, so one of them is judged
        assert row["cost_us"] == 5000 + 1000 * min(row["installed"], 1)
    calm = run()
    assert calm["matching_work"] == []
    assert {row["cost_us"] for row in calm["filter_decisions"]} == {0.0}

    def quickest_answer(tables: Tables) -> int:
        """The shortest time of any contact from the first greeting that came to the first summary sent."""
        waits = []
        for contact in tables["contacts"]:
            begin_ms, end_ms = contact["begin_ms"], contact["end_ms"]
            for ends in ((contact["a"], contact["b"]), (contact["b"], contact["a"])):
                rows = [
                    row
                    for row in tables["messages"]
                    if (row["node"], row["peer"]) == ends and begin_ms <= row["at_ms"] <= end_ms
                ]
                greeted = [r["at_ms"] for r in rows if r["kind"] == "received" and r["type"] in GREETINGS]
                answered = [r["at_ms"] for r in rows if r["kind"] == "sent" and r["type"] == "summary"]
                if greeted and answered:
                    waits.append(min(answered) - min(greeted))
        return min(waits)

    assert quickest_answer(calm) < 50
    assert quickest_answer(tables) >= 250


def test_a_measured_board_costs_what_was_measured(run: Callable[..., Tables]) -> None:
    measured = load_board_profile("microbit")
    board = '[board.bit]\nprofile = "microbit"\n\n[energy.cell]\nidle_w = 0.0\n'
    bits = ('role = "publisher"', 'role = "publisher"\nboard = "bit"\nenergy = "cell"')
    tables = run(board, bits, length_s=LONG)
    assert {row["released"] for row in tables["filter_decisions"]} == {0, 1}
    for row in tables["filter_decisions"]:
        satisfied, installed = row["released"], row["installed"]
        groups = 1 if installed else 0
        counts = {"min": installed - satisfied}, {"min": satisfied}
        assert row["cost_us"] == measured.reading_cost_us(groups, *counts)
    spent = dict.fromkeys((5, 6, 7), 0.0)
    for row in tables["filter_decisions"]:
        spent[row["node"]] += measured.energy_j(int(row["cost_us"]))
    last = {row["node"]: row["compute_j"] for row in tables["energy"]}
    assert last == pytest.approx(spent)


def test_a_board_filters_by_the_algorithm_it_names_and_releases_the_same(run: Callable[..., Tables]) -> None:
    bits = ('role = "publisher"', 'role = "publisher"\nboard = "bit"')
    told = []
    for algorithm in ("fnif", "fnifs", "fnifc"):
        tables = run(f'[board.bit]\nalgorithm = "{algorithm}"\n', bits, length_s=LONG)
        told.append([(row["at_ms"], row["node"], row["released"]) for row in tables["filter_decisions"]])
    assert any(released for _, _, released in told[0])
    assert told[0] == told[1] == told[2]


def test_damping_holds_back_and_says_so(run: Callable[..., Tables]) -> None:
    damped = ('role = "publisher"', 'role = "publisher"\ndamping = { interval_s = 300 }')
    tables = run("", damped, length_s=LONG)
    held = [row for row in tables["filter_decisions"] if row["suppressed"] == "interval"]
    assert held
    times: dict[int, list[int]] = {}
    for row in tables["notifications"]:
        times.setdefault(row["origin"], []).append(row["at_ms"])
    assert all(later - earlier >= 300_000 for at in times.values() for earlier, later in pairwise(at))


def test_parameters_change_on_time(run: Callable[..., Tables]) -> None:
    tables = run(
        '[[control]]\nat_s = 600\npath = "radio.handheld.loss"\nvalue = 0.9\n'
        '[[control]]\nat_s = 900\npath = "sensor[0].every_s"\nvalue = 300\n'
    )

    def share_lost(begin_ms: int, end_ms: int) -> float:
        rows = [row["kind"] for row in tables["messages"] if begin_ms <= row["at_ms"] < end_ms]
        return rows.count("lost") / (rows.count("lost") + rows.count("received"))

    assert share_lost(0, 600_000) < 0.15
    assert share_lost(605_000, 1_800_000) > 0.8
    reads = [row["at_ms"] for row in tables["filter_decisions"] if row["node"] == 5]
    gaps = [(later - earlier, earlier) for earlier, later in pairwise(reads)]
    assert {gap for gap, at_ms in gaps if at_ms < 870_000} == {30_000}
    assert {gap for gap, at_ms in gaps if at_ms > 930_000} == {300_000}


def test_a_shorter_range_cuts_contacts_when_it_comes_and_a_longer_one_makes_some(
    run: Callable[..., Tables],
) -> None:
    def ranged(at_s: int, range_m: float) -> str:
        return f'[[control]]\nat_s = {at_s}\npath = "radio.handheld.range_m"\nvalue = {range_m}\n'

    tables, unchanged = run(ranged(580, 1.0) + ranged(1200, 400.0)), run("")

    def contacts(tables: Tables, before_ms: float) -> list[tuple[int, int, float, float]]:
        rows = [(row["a"], row["b"], row["begin_ms"], row["end_ms"]) for row in tables["contacts"]]
        return sorted((a, b, begin, min(end, before_ms)) for a, b, begin, end in rows if begin < before_ms)

    found, wanted = contacts(tables, 580_000.0), contacts(unchanged, 580_000.0)
    assert np.array(found) == pytest.approx(np.array(wanted), abs=1e-3)
    assert any(row["end_ms"] == 580_000.0 for row in tables["contacts"])
    assert any(row["begin_ms"] == 1_200_000.0 for row in tables["contacts"])
    sent = [row["at_ms"] for row in tables["messages"] if row["kind"] == "sent"]
    meets = [(row["begin_ms"], row["end_ms"]) for row in tables["contacts"]]
    near = [at_ms for at_ms in sent if 580_000 < at_ms < 1_200_000]
    assert all(any(begin <= at_ms <= end for begin, end in meets) for at_ms in near)
    assert sum(at_ms >= 1_200_000 for at_ms in sent) > sum(at_ms < 580_000 for at_ms in sent) > len(near)


def test_the_same_seed_gives_the_same_faults(run: Callable[..., Tables]) -> None:
    crash = '[[fault]]\nkind = "crash"\nevery_s = 300\nfor_s = 60\n[[fault]]\nkind = "loss"\nshare = 0.1\n'
    first, again, other = run(crash), run(crash), run(crash, seed=6)
    assert first == again
    assert states(first) != states(other)
