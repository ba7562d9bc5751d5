"""Runs whose nodes are called away: they go there, and contacts stay exact."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dens.config.problems import DocumentError
from dens.overlay.events import NotificationMatched
from dens.overlay.wire.item import Item
from dens.trace.writer import TraceWriter
from emulation.clock import Clock
from emulation.contacts.courses import Courses
from emulation.contacts.usable import UsableTime
from emulation.contacts.windows import find_contacts_in_windows
from emulation.ground_truth_recorder import GroundTruthRecorder
from emulation.mobility.model import Answer, Legs, Point, legs_through
from emulation.motion import contacts_among, walks_of
from emulation.random.rng import RandomStreams
from emulation.rerun import rerun
from emulation.run import Progress, run_scenario
from emulation.scenario import Scenario, load_scenario
from emulation.scenario.controls import range_windows
from emulation.world.reactive_contacts import ReactiveContacts
from emulation.world.reactive_mobility import ReactiveMobility, Responder

WriteScenario = Callable[..., Path]
SEED = 5
HOUR_MS = 3_600_000
"""For an hour after a call no node hears another from the same source, as docs/reference/scenario.md says."""
GROUND = """
[[zone]]
kind = "incident_site"
corners_m = [[0, 0], [150, 0], [150, 120], [0, 120]]

[[zone]]
kind = "treatment"
corners_m = [[250, 180], [390, 180], [390, 290], [250, 290]]

[[obstacle]]
corners_m = [[180, 100], [200, 100], [200, 250], [180, 250]]

[[group]]
name = "medics"
"""
MEDICS = 'mobility = { model = "random_waypoint", speed_m_per_s = [1.0, 2.0], pause_s = [0, 30] }'
HELPERS = 'mobility = { model = "random_waypoint", speed_m_per_s = [2.0, 4.0] }'
CALLED_MEDICS = (
    'mobility = { model = "disaster_area", duty = "treatment", called = "delivered", attends_s = [20, 90] }'
)
CALLED_HELPERS = 'mobility = { model = "disaster_area", duty = "bearer", called = "matched" }'
FAULTS = """
[[control]]
at_s = 1800
path = "radio.handheld.range_m"
value = 35

[[control]]
at_s = 3600
path = "radio.handheld.range_m"
value = 60

[[fault]]
kind = "crash"
every_s = 900
for_s = 120
"""


@pytest.fixture
def called(write_scenario: WriteScenario) -> Scenario:
    return load_scenario(scenario_file(write_scenario))


def scenario_file(write: WriteScenario, *changes: tuple[str, str]) -> Path:
    """Return the file of a small disaster area in which medics go where a fever is reported."""
    return write(
        ('[[group]]\nname = "medics"\n', GROUND.lstrip()),
        ("duration_s = 3600", "duration_s = 5400"),
        (MEDICS, CALLED_MEDICS),
        (HELPERS, CALLED_HELPERS),
        *changes,
    )


def table(run: Path, name: str) -> pa.Table:
    return pa.concat_tables(
        [pq.read_table(part) for part in sorted((run / "trace" / name).glob("*.parquet"))]
    )


def walks_in(run: Path, nodes: int) -> list[Legs]:
    """Return the walks recorded in a trace, each in the order of time."""
    rows = table(run, "motion").to_pandas().sort_values(["node", "begin_ms"])
    return [
        Legs(*(rows[rows.node == node][name].to_numpy() for name in Legs.__slots__)) for node in range(nodes)
    ]


def contacts_in(run: Path) -> list[tuple[int, int, float, float]]:
    rows = table(run, "contacts").to_pydict()
    return sorted(zip(rows["a"], rows["b"], rows["begin_ms"], rows["end_ms"], strict=True))


def assert_contacts_follow_from_motion(run: Path, scenario: Scenario) -> None:
    walks = walks_in(run, 8)
    for walk in walks:
        assert walk.begin_ms[0] == 0.0
        assert (walk.begin_ms[1:] == walk.end_ms[:-1]).all()
        assert (walk.x0_m[1:] == walk.x1_m[:-1]).all()
        assert (walk.y0_m[1:] == walk.y1_m[:-1]).all()
    end_ms = float(walks[0].end_ms[-1])
    exact = find_contacts_in_windows(walks, range_windows(scenario.settings), end_ms)
    found = contacts_in(run)
    wanted = sorted(zip(*(getattr(exact, name).tolist() for name in exact.__slots__[:4]), strict=True))
    assert [row[:2] for row in found] == [row[:2] for row in wanted]
    assert np.array(found) == pytest.approx(np.array(wanted), abs=1e-3)


def assert_frames_stay_within_contacts(run: Path) -> None:
    contacts = contacts_in(run)
    messages = table(run, "messages").to_pandas()
    sent = messages[messages.kind == "sent"]
    assert len(sent) > 100
    for at_ms, node, peer in zip(sent.at_ms, sent.node, sent.peer, strict=True):
        pair = (min(node, peer), max(node, peer))
        assert any((a, b) == pair and begin <= at_ms <= end for a, b, begin, end in contacts)


@pytest.mark.parametrize("faults", ["", FAULTS])
def test_contacts_are_those_of_the_ways_that_were_gone(
    write_scenario: WriteScenario, tmp_path: Path, faults: str
) -> None:
    change = ("[[sensor]]\n", f"{faults}\n[[sensor]]\n")
    scenario = load_scenario(scenario_file(write_scenario, change))
    summary = run_scenario(scenario, SEED, tmp_path / "run")
    assert summary.delivered > 0
    planned = walks_of(scenario, RandomStreams(SEED))
    gone = walks_in(tmp_path / "run", 8)
    turned = [node for node in range(8) if planned[node].x1_m.tolist() != gone[node].x1_m.tolist()]
    assert {0, 1} & set(turned), "no medic was called"
    assert {2, 3, 4} & set(turned), "no helper was called"
    assert not {5, 6, 7} & set(turned)
    assert_contacts_follow_from_motion(tmp_path / "run", scenario)
    assert_frames_stay_within_contacts(tmp_path / "run")


def test_who_is_called_goes_to_where_it_was_read_stays_and_returns(called: Scenario, tmp_path: Path) -> None:
    run_scenario(called, SEED, tmp_path / "run")
    walks = walks_in(tmp_path / "run", 8)
    patients = {(float(walk.x0_m[0]), float(walk.y0_m[0])) for walk in walks[5:]}
    messages = table(tmp_path / "run", "messages").to_pandas()
    for medic in (0, 1):
        heard = messages[(messages.kind == "delivered") & (messages.node == medic)].at_ms
        walk = walks[medic]
        stays = [
            leg
            for leg in range(len(walk))
            if (float(walk.x0_m[leg]), float(walk.y0_m[leg])) in patients and walk.x0_m[leg] == walk.x1_m[leg]
        ]
        assert stays
        for leg in stays[:-1]:
            assert 20_000.0 <= walk.end_ms[leg] - walk.begin_ms[leg] <= 90_000.0
        assert min(heard) in walk.begin_ms, "the first call begins another leg"


class ThereAndBack:
    """A model that goes to a call in a second, stays for nine, and is back at once."""

    def answer(
        self, here: Point, there: Point, at_ms: float, duration_ms: float, _rng: np.random.Generator
    ) -> Answer:
        points = [(at_ms, *here), (at_ms + 1000, *there), (at_ms + 10_000, *there), (duration_ms, *there)]
        times, x, y = (np.array(column) for column in zip(*points, strict=True))
        return Answer(legs_through(times, x, y, duration_ms), at_ms + 10_000)


def match_of(source: int, created_ms: int) -> NotificationMatched:
    return NotificationMatched(created_ms, Item(35, 1, source, 1, created_ms, 8, 0, b"abc"), 0, 4, 0, 255)


def test_who_was_called_hears_no_other_until_it_is_back_and_none_from_there_for_an_hour(
    tmp_path: Path,
) -> None:
    duration_ms = 4 * HOUR_MS
    walks = [
        legs_through(np.array([0.0, duration_ms]), np.array([x, x]), np.zeros(2), duration_ms)
        for x in (0.0, 500.0, 900.0)
    ]
    windows = [(0.0, [50.0] * 3)]
    clock = Clock()
    courses = Courses(walks, find_contacts_in_windows(walks, windows, duration_ms), windows, duration_ms)
    with TraceWriter(tmp_path / "trace") as trace:
        contacts = ReactiveContacts(
            clock, GroundTruthRecorder(trace), courses, UsableTime([0] * 3, [0.0] * 3)
        )
        contacts.begin(lambda a, b: None, lambda a, b: None)
        responder = Responder(NotificationMatched, ThereAndBack(), np.random.default_rng(1))
        mobility = ReactiveMobility(clock, contacts, {0: responder, 3: responder}, [0, 1, 2, 0], duration_ms)

        def called(at_ms: int, source: int, node: int = 0) -> bool:
            clock.run_until(at_ms)
            before = contacts.place_at(0, at_ms + 5000)
            mobility.on_event(node, match_of(source, at_ms))
            assert contacts.place_at(0, at_ms + 5000) == before, "no node turns before its call"
            mobility.react()
            return contacts.place_at(0, at_ms + 5000) != before

        assert not called(5000, 1, node=1), "it gets no call"
        assert called(10_000, 1)
        assert contacts.place_at(0, 15_000) == contacts.place_at(1, 0)
        assert not called(19_999, 2), "it is on a call"
        assert called(20_000, 2)
        assert not called(9_999 + HOUR_MS, 1), "it was there within the hour"
        assert called(10_000 + HOUR_MS, 1, node=3), "also by another engine of the same device"
        assert not called(30_000 + HOUR_MS, 3), "by itself"


def test_without_a_call_nothing_differs_from_the_plan(write_scenario: WriteScenario, tmp_path: Path) -> None:
    asking = '[[subscription]]\ngroup = "medics"\nfile = "fever.xml"\n'
    scenario = load_scenario(scenario_file(write_scenario, (asking, "")))
    run_scenario(scenario, SEED, tmp_path / "run")
    planned = walks_of(scenario, RandomStreams(SEED))
    contacts = contacts_among(scenario, planned, RandomStreams(SEED))
    columns = [getattr(contacts, name).tolist() for name in contacts.__slots__[:4]]
    assert contacts_in(tmp_path / "run") == sorted(zip(*columns, strict=True))
    for walk, plan in zip(walks_in(tmp_path / "run", 8), planned, strict=True):
        assert [getattr(walk, name).tolist() for name in Legs.__slots__] == [
            getattr(plan, name).tolist() for name in Legs.__slots__
        ]


def test_a_run_is_the_same_again_also_when_it_was_interrupted(called: Scenario, tmp_path: Path) -> None:
    whole = run_scenario(called, SEED, tmp_path / "whole")
    again = rerun(tmp_path / "whole", tmp_path / "again")
    assert again.comparison is not None
    assert again.comparison.same_trace
    assert again.summary == whole

    def interrupt(progress: Progress) -> None:
        if progress.simulated_s > 4000:
            raise KeyboardInterrupt

    summary = run_scenario(called, SEED, tmp_path / "partial", interrupt)
    assert summary.status == "partial"
    assert_contacts_follow_from_motion(tmp_path / "partial", called)
    assert table(tmp_path / "partial", "motion").to_pandas().end_ms.max() == 1000 * summary.simulated_s
    shorter = rerun(tmp_path / "partial", tmp_path / "shorter")
    assert shorter.comparison is not None
    assert shorter.comparison.same_trace


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(('called = "delivered"', 'called = "matched"'), "calls mediators", id="role"),
        pytest.param(
            ('duty = "treatment"', 'duty = "casualty"'), "casualties do not answer calls", id="casualty"
        ),
        pytest.param(('called = "delivered"', 'called = "rung"'), "delivered", id="word"),
        pytest.param(("attends_s = [20, 90]", "attends_s = [90, 20]"), "least must not be", id="stay"),
    ],
)
def test_calls_that_cannot_be_are_refused(
    write_scenario: WriteScenario, change: tuple[str, str], expected: str
) -> None:
    with pytest.raises(DocumentError) as caught:
        load_scenario(scenario_file(write_scenario, change))
    assert any(expected in problem.message and problem.line for problem in caught.value.problems)
