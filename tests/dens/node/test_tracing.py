"""What a real node writes down of its life: read back, it is what happened, over kills and full disks too."""

from pathlib import Path

import pytest

from dens.config.refusal import Refusal
from dens.node.assembly import mediator
from dens.node.recording.node_trace import FLUSH_MS, MOST_NOISE, NodeTrace
from dens.node.recording.trace_folder import TraceFolder
from dens.node.recording.tracing import traced_node
from dens.overlay.events import NotificationDelivered
from dens.overlay.storage.memory import MemoryStore
from dens.trace.manifest import read_manifest
from dens.trace.tables import rows_of
from spark_analysis.metrics.expected import subscription_revisions
from tests.dens.node.mission import BED, BEGIN_MS, MEDIC, NODE, Mission


@pytest.fixture
def mission(tmp_path: Path) -> Mission:
    return Mission(tmp_path)


def settle_s(mission: Mission, seconds: float) -> None:
    mission.go_on(round(1000 * seconds))


def test_a_trace_says_what_happened_in_the_time_since_it_began(mission: Mission) -> None:
    settle_s(mission, 2)
    mission.ask(0)
    asked_ms = mission.now_ms - BEGIN_MS
    settle_s(mission, 2)
    mission.measure()
    told_ms = mission.now_ms - BEGIN_MS
    settle_s(mission, 8)
    seen = [event for event in mission.events if isinstance(event, NotificationDelivered)]
    assert len(seen) == 1
    assert read_manifest(mission.trace).status == "running"
    mission.node.end(mission.now_ms)

    manifest = read_manifest(mission.trace)
    assert (manifest.status, manifest.seed, manifest.policy) == ("complete", None, "epidemic")
    assert manifest.simulated_ms == mission.now_ms - BEGIN_MS
    assert {(row["node"], row["role"]) for row in mission.rows("nodes")} == {
        (NODE, "mediator"),
        (MEDIC, "subscriber"),
        (BED, "publisher"),
    }
    [wish] = mission.rows("subscriptions")
    assert (wish["subscriber"], wish["created_ms"], wish["withdrawn_ms"]) == (MEDIC, asked_ms, None)
    [told] = mission.rows("notifications")
    assert (told["origin"], told["at_ms"], told["vector"]) == (BED, told_ms, seen[0].item.payload)
    [delivered] = [row for row in mission.rows("messages") if row["kind"] == "delivered"]
    assert (delivered["node"], delivered["origin"], delivered["number"]) == (
        MEDIC,
        seen[0].item.origin,
        seen[0].item.number,
    )
    assert delivered["at_ms"] == seen[0].at_ms - BEGIN_MS
    assert delivered["age_ms"] == delivered["at_ms"] - told_ms
    assert delivered["hops"] == 2
    [match] = mission.rows("matches")
    assert (match["node"], match["subscriber"], match["degree_u8"]) == (NODE, MEDIC, 255)
    contacts = mission.rows("contacts")
    assert {(row["a"], row["b"], row["censored"]) for row in contacts} == {
        (NODE, MEDIC, True),
        (NODE, BED, True),
    }
    assert [(row["state"], row["reason"]) for row in mission.rows("node_state")] == [
        ("up", "start"),
        ("down", "stop"),
    ]
    assert max(row["notifications"] for row in mission.rows("buffers")) == 1


def test_a_node_that_was_killed_goes_on_and_says_nothing_twice(mission: Mission) -> None:
    mission.ask(0)
    settle_s(mission, 2)
    mission.measure()
    settle_s(mission, 8)
    mission.measure()
    settle_s(mission, 1)
    mission.kill(after_ms=60_000)  # the second notification was never shown to a follower
    mission.begin()
    settle_s(mission, 2)
    mission.measure()
    settle_s(mission, 2)
    mission.medic.unsubscribe(0, mission.now_ms)
    withdrawn_ms = mission.now_ms - BEGIN_MS
    settle_s(mission, 8)
    mission.node.end(mission.now_ms)

    delivered = [event for event in mission.events if isinstance(event, NotificationDelivered)]
    assert len(delivered) == 3
    told = mission.rows("notifications")
    assert sorted((row["origin"], row["number"]) for row in told) == sorted(
        (one.item.origin, one.item.number) for one in delivered
    )
    seen = [row for row in mission.rows("messages") if row["kind"] == "delivered"]
    assert sorted((row["node"], row["at_ms"]) for row in seen) == sorted(
        (MEDIC, one.at_ms - BEGIN_MS) for one in delivered
    )
    [wish] = subscription_revisions(mission.rows("subscriptions"))
    assert wish.withdrawn_ms == withdrawn_ms
    assert len(mission.rows("nodes")) == 3
    lives = sorted((row["b"], row["begin_ms"] > 60_000, row["censored"]) for row in mission.rows("contacts"))
    assert lives == [(MEDIC, False, True), (MEDIC, True, True), (BED, False, True), (BED, True, True)]
    assert [(row["state"], row["reason"]) for row in mission.rows("node_state")] == [
        ("up", "start"),
        ("down", "crash"),
        ("up", "restart"),
        ("down", "stop"),
    ]


def test_a_neighbour_that_was_silent_for_long_was_away(mission: Mission) -> None:
    settle_s(mission, 2)
    del mission.machines[MEDIC]
    mission.node.contact_lost(MEDIC, mission.now_ms)
    lost_ms = mission.now_ms - BEGIN_MS
    mission.machines[MEDIC] = mission.medic
    mission.medic.contact_lost(NODE, mission.now_ms)
    settle_s(mission, 200)
    mission.medic.contact_opened(NODE, mission.now_ms)
    mission.node.contact_opened(MEDIC, mission.now_ms)
    again_ms = mission.now_ms - BEGIN_MS
    settle_s(mission, 2)
    mission.node.end(mission.now_ms)
    first, second = sorted(
        (row for row in mission.rows("contacts") if MEDIC in (row["a"], row["b"])),
        key=lambda row: row["begin_ms"],
    )
    assert first["begin_ms"] <= 100
    assert first["end_ms"] <= lost_ms
    assert not first["censored"]
    assert again_ms <= second["begin_ms"] <= again_ms + 1_000
    assert second["censored"]


def test_what_is_collected_is_shown_after_a_while(mission: Mission) -> None:
    mission.go_on(FLUSH_MS)
    before = len(mission.rows("messages"))
    mission.go_on(100)
    assert before == 0 < len(mission.rows("messages"))


def test_a_trace_that_cannot_be_written_does_not_stop_the_node(mission: Mission) -> None:
    mission.ask(0)
    settle_s(mission, 6)
    for path in (mission.trace / "trace").rglob("*"):
        path.unlink() if path.is_file() else None
    for table in (mission.trace / "trace").iterdir():
        table.rmdir()
    mission.measure()
    settle_s(mission, 8)
    mission.node.end(mission.now_ms)
    [word] = mission.said
    assert "the node continues without a trace" in word
    assert any(isinstance(event, NotificationDelivered) for event in mission.events)


def test_a_folder_that_is_being_written_is_refused(mission: Mission, tmp_path: Path) -> None:
    engine = mediator(mission.plan, MemoryStore(), BEGIN_MS)
    with pytest.raises(Refusal, match="is being written by another process"):
        traced_node(engine, mission.plan, MemoryStore(), mission.trace, BEGIN_MS, print)


def test_a_lost_part_costs_no_other_part(mission: Mission) -> None:
    settle_s(mission, 12)
    parts = sorted((mission.trace / "trace" / "messages").glob("*.parquet"))
    assert len(parts) > 1
    parts[0].unlink()
    kept = {part: part.read_bytes() for part in parts[1:]}
    mission.kill(after_ms=1_000)
    mission.begin()
    settle_s(mission, 8)
    assert {part: part.read_bytes() for part in kept} == kept


def test_a_node_killed_before_it_could_say_anything_is_in_its_trace(mission: Mission) -> None:
    mission.kill(after_ms=1_000)
    for part in (mission.trace / "trace").rglob("*.parquet"):
        part.unlink()
    mission.begin()
    mission.node.end(mission.now_ms)
    assert [(row["node"], row["role"]) for row in mission.rows("nodes")] == [(NODE, "mediator")]


def test_what_happened_before_a_trace_began_is_not_in_it(mission: Mission) -> None:
    mission.ask(0)
    settle_s(mission, 2)
    mission.medic.contact_lost(NODE, mission.now_ms)
    mission.node.contact_lost(MEDIC, mission.now_ms)
    mission.measure()
    settle_s(mission, 2)
    mission.kill(after_ms=1_000)
    mission.trace = mission.trace.with_name("another")
    mission.begin()
    settle_s(mission, 8)
    mission.node.end(mission.now_ms)
    assert any(isinstance(event, NotificationDelivered) for event in mission.events)
    assert mission.rows("notifications") == []
    assert [row for row in mission.rows("messages") if row["kind"] == "delivered"] == []


def test_foreign_folder_is_refused(mission: Mission, tmp_path: Path) -> None:
    def begin(folder: Path) -> None:
        engine = mediator(mission.plan, MemoryStore(), BEGIN_MS)
        traced_node(engine, mission.plan, MemoryStore(), folder, BEGIN_MS, print)

    with pytest.raises(Refusal, match="not the trace of a node"):
        begin(tmp_path)
    with pytest.raises(Refusal, match="is a file"):
        begin(tmp_path / "node.toml")
    mission.kill(after_ms=0)
    manifest = mission.trace / "manifest.json"
    good = manifest.read_text()
    manifest.write_text(good.replace(f'"node": {NODE}', '"node": 8'))
    with pytest.raises(Refusal, match="the trace of node 8"):
        begin(mission.trace)
    manifest.write_text(good.replace('"table_check": ', '"table_check": 1'))
    with pytest.raises(Refusal, match="other vocabularies"):
        begin(mission.trace)
    manifest.write_text(good.replace('"began_ms": ', '"began_ms": 1.5e'))
    with pytest.raises(Refusal, match="not the trace of a node"):
        begin(mission.trace)
    manifest.write_text(good[:40])
    with pytest.raises(Refusal, match="not the trace of a node"):
        begin(mission.trace)


def test_flood_leaves_trace_bounded_and_opens_no_contact(mission: Mission) -> None:
    settle_s(mission, 6)
    last_ms = mission.now_ms
    rows = len(mission.rows("frames"))
    mission.medic.contact_lost(NODE, mission.now_ms)
    del mission.machines[MEDIC]
    for _ in range(3 * MOST_NOISE):
        mission.node.receive(b"\x10\x03 and so on", MEDIC, mission.now_ms)
    settle_s(mission, FLUSH_MS / 1000)
    assert len(mission.rows("frames")) - rows <= 2 * MOST_NOISE + 100
    mission.node.receive(b"\x10\x03 and so on", MEDIC, mission.now_ms)
    mission.node.end(mission.now_ms)
    [said] = mission.said
    assert said.endswith(" refused or repeated datagrams are not in the trace")
    assert 2 * MOST_NOISE <= int(said.split()[0].replace(",", "")) <= 2 * MOST_NOISE + 10
    [contact] = [row for row in mission.rows("contacts") if row["b"] == MEDIC]
    assert contact["end_ms"] <= last_ms - BEGIN_MS


def test_what_a_document_source_of_the_node_offered_is_written_down(mission: Mission) -> None:
    settle_s(mission, 2)
    trace = NodeTrace(
        TraceFolder(mission.trace.parent / "another", mission.plan, mission.now_ms),
        NODE,
        tag_bytes=0,
        gap_ms=1_000,
        now_ms=mission.now_ms,
    )
    trace.offered(5, 4, b"a graph", installed=2, released=1, now_ms=mission.now_ms + 700)
    trace.end(mission.now_ms + 1_000)
    [row] = rows_of(mission.trace.parent / "another", "documents")
    assert row == {
        "at_ms": 700,
        "node": NODE,
        "event_number": 5,
        "language": 4,
        "vector": b"a graph",
        "installed": 2,
        "released": 1,
    }
