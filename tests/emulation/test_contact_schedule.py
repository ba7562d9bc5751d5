"""Contacts that are known before the run: they open and are lost on time, and are written down at once."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from dens.trace.writer import TraceWriter
from emulation.clock import Clock
from emulation.contacts.contact import Contacts, FileOrder
from emulation.contacts.usable import UsableTime
from emulation.ground_truth_recorder import GroundTruthRecorder
from emulation.world.contact_schedule import PlannedContacts
from tests.emulation.contacts.slow_detector import legs


def test_planned_contacts_open_after_set_up_and_are_lost_when_they_end(tmp_path: Path) -> None:
    contacts = Contacts(
        np.array([0, 0, 1, 0], np.int32),
        np.array([1, 2, 2, 1], np.int32),
        np.array([100.5, 200.0, 300.0, 5000.0]),
        np.array([1000.5, 240.0, 9000.0, 6000.0]),
        np.array([False, False, True, False]),
    )
    walks = [legs([(0.0, 0.0, 0.0), (9000.0, 0.0, 0.0)])] * 3
    clock = Clock()
    heard: list[tuple[int, str, int, int]] = []
    with TraceWriter(tmp_path / "trace") as trace:
        usable = UsableTime([50, 0, 0], [0.0] * 3)
        schedule = PlannedContacts(clock, GroundTruthRecorder(trace), walks, contacts, usable)
        schedule.begin(
            lambda a, b: heard.append((clock.now_ms, "opened", a, b)),
            lambda a, b: heard.append((clock.now_ms, "lost", a, b)),
        )
        assert trace["contacts"].written + trace["contacts"].collected == 4
        clock.run_until(9001)
        schedule.record_until(9001)
        schedule.close(9001)
    assert heard == [
        (151, "opened", 0, 1),
        (300, "opened", 1, 2),
        (1000, "lost", 0, 1),
        (5050, "opened", 0, 1),
        (6000, "lost", 0, 1),
    ], "40 ms are less than the set-up; what outlasts the run is not lost"
    assert pq.read_table(tmp_path / "trace" / "contacts").num_rows == 4
    assert pq.read_table(tmp_path / "trace" / "motion").num_rows == 3


def test_a_recording_keeps_its_order_within_a_millisecond(tmp_path: Path) -> None:
    """At 500 the file says: (0, 1) ends, (1, 2) begins, (0, 2) ends, (0, 3) begins."""
    contacts = Contacts(
        np.array([0, 0, 1, 0], np.int32),
        np.array([1, 2, 2, 3], np.int32),
        np.array([0.0, 0.0, 500.0, 500.0]),
        np.array([500.0, 500.0, 900.0, 900.0]),
        np.zeros(4, dtype=np.bool_),
        FileOrder(np.array([2, 1, 4, 6]), np.array([3, 5, 8, 7])),
    )
    walks = [legs([(0.0, 0.0, 0.0), (9000.0, 0.0, 0.0)])] * 4
    clock = Clock()
    heard: list[tuple[int, str, int, int]] = []
    with TraceWriter(tmp_path / "trace") as trace:
        usable = UsableTime([0] * 4, [0.0] * 4)
        schedule = PlannedContacts(clock, GroundTruthRecorder(trace), walks, contacts, usable)
        schedule.begin(
            lambda a, b: heard.append((clock.now_ms, "opened", a, b)),
            lambda a, b: heard.append((clock.now_ms, "lost", a, b)),
        )
        clock.run_until(1000)
    assert heard == [
        (0, "opened", 0, 2),
        (0, "opened", 0, 1),
        (500, "lost", 0, 1),
        (500, "opened", 1, 2),
        (500, "lost", 0, 2),
        (500, "opened", 0, 3),
        (900, "lost", 0, 3),
        (900, "lost", 1, 2),
    ]
