"""Devices with several roles and plain messages between them, through the real engines."""

import heapq
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from emulation.contacts.contact import Contacts
from emulation.direct_messages import subscription_of
from emulation.replay.flood import replay
from emulation.replay.messages import Message
from emulation.run import run_scenario
from emulation.scenario import check_scenario_file, load_scenario, shipped_scenarios
from knowledge_manager.mission_table import load_mission_table
from plugins.direct.language import DIRECT, notification_for
from watchdog.header import body_of
from watchdog.vector import VectorError

PLAIN = """\
name = "plain"
duration_s = 3600
seed = 3
area = { width_m = 250, height_m = 250 }
radio.device = { range_m = 30, rate_bytes_per_s = 250000 }

[[group]]
name = "hosts"
role = ["mediator", "publisher", "subscriber"]
count = 10
radio = "device"
mobility = { model = "random_waypoint", speed_m_per_s = [0.5, 1.5], pause_s = [0, 120] }

[[traffic]]
source = "hosts"
destination = "hosts"
first_s = 30
every_s = 60
size_bytes = 2000
lifetime_s = 1800
"""
Rows = list[dict[str, int]]
Changed = Callable[..., Path]


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    def write(*changes: tuple[str, str]) -> Path:
        text = PLAIN
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        path = tmp_path / "plain.toml"
        path.write_text(text)
        return path

    return write


def table(run: Path, name: str) -> Rows:
    rows: Rows = pq.read_table(run / "trace" / name).to_pylist()
    return rows


def earliest(contacts: Rows, source: int, from_ms: float, target: int) -> float:
    """Search the earliest time-respecting path in the contact table."""
    queue, done = [(from_ms, source)], set()
    while queue:
        at_ms, node = heapq.heappop(queue)
        if node == target:
            return at_ms
        if node in done:
            continue
        done.add(node)
        for row in contacts:
            if node in (row["a"], row["b"]) and at_ms <= row["end_ms"]:
                peer = row["a"] + row["b"] - node
                heapq.heappush(queue, (max(at_ms, row["begin_ms"]), peer))
    return float("inf")


def test_messages_arrive_once_at_the_right_node_and_neither_too_early_nor_needlessly_late(
    changed: Changed, tmp_path: Path
) -> None:
    run_scenario(load_scenario(changed()), 3, tmp_path / "run")
    device = {}
    for row in table(tmp_path / "run", "nodes"):
        device[row["node"]] = row["node"] if row["node"] < 10 else (row["node"] - 10) // 2
    contacts = table(tmp_path / "run", "contacts")
    arrived = {
        (row["origin"], row["number"]): row
        for row in table(tmp_path / "run", "messages")
        if row["kind"] == "delivered"
    }
    made = table(tmp_path / "run", "notifications")
    assert len(made) == 60
    on_time = 0
    for message in made:
        vector: bytes = message["vector"]  # type: ignore[assignment]
        destination = int.from_bytes(vector[:2], "big")
        source, target = device[message["origin"]], device[destination]
        assert source != target
        could_ms = earliest(contacts, source, message["at_ms"], target)
        row = arrived.pop((message["origin"], message["number"]), None)
        if row is None:
            assert could_ms > min(message["at_ms"] + message["lifetime_ms"], 3_600_000) - 60_000
        else:
            assert row["node"] == destination
            assert could_ms <= row["at_ms"] < message["at_ms"] + message["lifetime_ms"]
            on_time += row["at_ms"] - could_ms < 5_000
    assert not arrived
    assert on_time > 20


def test_traffic_inside_a_device_makes_no_contact_and_no_frame(changed: Changed, tmp_path: Path) -> None:
    run_scenario(load_scenario(changed()), 3, tmp_path / "run")
    nodes = table(tmp_path / "run", "nodes")
    assert [row["name"] for row in nodes[:1] + nodes[10:12]] == [
        "hosts-1",
        "hosts-1.publisher",
        "hosts-1.subscriber",
    ]
    assert len(nodes) == 30
    assert {row["node"] for row in table(tmp_path / "run", "motion")} == set(range(10))
    frames = [row for row in table(tmp_path / "run", "messages") if row["kind"] in ("sent", "received")]
    assert frames
    assert all(row["node"] < 10 and row["peer"] < 10 for row in frames)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (('"mediator", ', ""), "needs a mediator"),
        (('"mediator", ', '"mediator", "mediator", '), "a role is named twice"),
        (('"publisher", ', ""), "only publishers can do this"),
        (('destination = "hosts"', 'destination = "hots"'), 'did you mean "hosts"'),
        (("count = 10", "count = 1"), "has only one node, and nodes do not send messages to themselves"),
        (("first_s = 30", "first_s = 3600"), "is not within the run"),
        (("size_bytes = 2000", "size_bytes = 70000"), "less than or equal to 60000"),
        (('"publisher", ', '"publsher", '), "group[0].role"),
    ],
)
def test_inconsistent_settings_are_reported_at_their_place(
    changed: Changed, change: tuple[str, str], text: str
) -> None:
    problems = check_scenario_file(changed(change))
    assert any(text in problem.message and problem.line > 0 for problem in problems), problems


def test_a_direct_subscription_has_the_header_that_the_overlay_reads() -> None:
    matcher = DIRECT.matcher(load_mission_table([]))
    matcher.add((7, 255), body_of(subscription_of(7, 100)))
    assert subscription_of(7, 100) == bytes((255, 0, 100, 0, 7))
    assert [match.key for match in matcher.match(notification_for(7, b"x"), 0, 0)] == [(7, 255)]
    assert matcher.match(notification_for(8, b"x"), 0, 0) == []
    with pytest.raises(VectorError):
        matcher.add((7, 1), b"\x01")


@pytest.mark.parametrize("name", ["one_a", "one_b", "one_c"])
def test_the_settings_of_the_one_ship(name: str) -> None:
    assert name in shipped_scenarios()
    settings = load_scenario(name).settings
    assert (settings.traffic[0].size_bytes, settings.traffic[0].every_s) == (10_000, 30)
    assert settings.radio["device"].range_m == 50


def test_the_overlay_agrees_with_an_ideal_flood_over_its_own_contacts(
    changed: Changed, tmp_path: Path
) -> None:
    """The flood is the one that agrees with The ONE's; it shares no code with the engines."""
    run_scenario(load_scenario(changed()), 3, tmp_path / "run")
    rows = table(tmp_path / "run", "contacts")
    columns = ("a", "b", "begin_ms", "end_ms", "censored")
    contacts = Contacts(*(np.array([row[name] for row in rows]) for name in columns))
    made = table(tmp_path / "run", "notifications")
    messages = []
    for row in made:
        vector: bytes = row["vector"]  # type: ignore[assignment]
        destination = int.from_bytes(vector[:2], "big")
        messages.append(
            Message(str(row["number"]), row["at_ms"], (row["origin"] - 10) // 2, (destination - 10) // 2)
        )
    ideal = replay(contacts, messages, ttl_s=made[0]["lifetime_ms"] / 1000)
    happened = table(tmp_path / "run", "messages")
    created = {(row["origin"], row["number"]): row["at_ms"] for row in made}
    waited = [
        row["at_ms"] - created[row["origin"], row["number"]] for row in happened if row["kind"] == "delivered"
    ]
    relays = sum(row["kind"] == "replicated" and row["type"] == "notification" for row in happened)
    assert ideal.delivered > 40
    assert ideal.delivered - 1 <= len(waited) <= ideal.delivered
    assert relays == pytest.approx(ideal.relays, rel=0.02)
    assert np.mean(waited) / 1000 == pytest.approx(float(np.mean(ideal.latencies_s)), rel=0.03)
