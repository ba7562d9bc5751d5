"""What its sources cannot serve a publisher refuses with a word that reaches the node; others run."""

from pathlib import Path

import pytest

from dens.overlay.events import Event, FilterInstalled, MessageAcknowledged
from dens.overlay.wire.codes import MessageType
from tests.dens.node.mission import BED, NODE, Mission
from tests.dens.node.node_process import node_file


def refusals(events: list[Event]) -> list[str | None]:
    """The words with which installs were acknowledged, as the node heard them."""
    return [
        event.reason
        for event in events
        if isinstance(event, MessageAcknowledged) and event.item.type == MessageType.INSTALL
    ]


def test_a_source_runs_from_the_install_to_the_withdrawal(tmp_path: Path) -> None:
    mission = Mission(tmp_path)
    mission.go_on(1000)
    assert not mission.monitor.is_on
    mission.ask(seq=0)
    mission.go_on(2000)
    assert mission.monitor.is_on
    assert refusals(mission.events) == [None]
    mission.medic.unsubscribe(0, mission.now_ms)
    mission.go_on(2000)
    assert not mission.monitor.is_on


def test_an_unknown_pair_is_refused_and_the_node_hears_why(tmp_path: Path) -> None:
    mission = Mission(tmp_path, has_class=False)
    mission.ask(seq=0)
    mission.go_on(2000)
    assert refusals(mission.events) == ["unknown_source"]
    assert not any(isinstance(event, FilterInstalled) for event in mission.events)
    assert mission.watchdog.interested() == mission.bed.filter_count == 0


def test_source_that_fails_to_start_is_reported_on_both_sides_and_retried(
    tmp_path: Path,
) -> None:
    mission = Mission(tmp_path)
    mission.monitor.is_broken = True
    mission.ask(seq=0)
    mission.go_on(2000)
    assert refusals(mission.events) == ["source_failed"]
    told = "source 0 (serial, application/octet-stream) could not be started: no such device"
    assert mission.said.count(told) == 1
    mission.monitor.is_broken = False
    lose_and_meet(mission)
    mission.go_on(2000)
    assert refusals(mission.events) == ["source_failed", None]
    assert mission.monitor.is_on


def lose_and_meet(mission: Mission) -> None:
    mission.node.contact_lost(BED, mission.now_ms)
    mission.bed.contact_lost(NODE, mission.now_ms)
    mission.meet_bed()


def test_a_source_that_fails_after_a_restart_is_tried_at_every_contact(tmp_path: Path) -> None:
    """The node thinks it installed, and never offers it again."""
    mission = Mission(tmp_path)
    mission.ask(seq=0)
    mission.go_on(2000)
    mission.monitor.is_broken, mission.monitor.is_on = True, False
    mission.restart_bed()
    mission.go_on(2000)
    assert mission.bed.filter_count == 1
    assert mission.watchdog.interested() == 0
    lose_and_meet(mission)
    mission.go_on(2000)
    assert not mission.monitor.is_on
    mission.monitor.is_broken = False
    lose_and_meet(mission)
    mission.go_on(2000)
    assert mission.monitor.is_on
    assert mission.watchdog.interested() == 1
    mission.medic.unsubscribe(0, mission.now_ms)
    mission.go_on(2000)
    assert not mission.monitor.is_on


DAY = "patient_temperature,heart_rate\n36.8,71\n40.1,134\n"
NOBODY = ["--at", "127.0.0.1:9", "--period", "0", "--wait", "0"]


@pytest.fixture
def day(tmp_path: Path) -> Path:
    path = tmp_path / "day.csv"
    path.write_text(DAY)
    return path


def test_on_demand_recording_without_subscription_is_not_read(dens, tmp_path: Path, day: Path) -> None:
    path = node_file(tmp_path, 1)
    ended = dens("node", "publish", path, day, "--event", "patient", *NOBODY, "--on-demand", "--json")
    assert '"readings": 0' in ended.out
    assert "no subscription needs this source for 0 s; the rest is not read" in ended.err
    ended = dens("node", "publish", path, day, "--event", "patient", *NOBODY, "--json")
    assert '"readings": 2' in ended.out


def test_a_pair_that_nothing_reads_is_refused_before_anything_is_made(
    dens, tmp_path: Path, day: Path
) -> None:
    path = node_file(tmp_path, 1)
    ended = dens("node", "publish", path, day, "--event", "patient", *NOBODY, "--protocol", "i2c")
    assert ended.code == 3
    assert "nothing here reads protocol i2c with text/csv; there is: file, text/csv" in ended.err
    assert not (tmp_path / "publisher-65003.sqlite").exists()
