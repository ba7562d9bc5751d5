"""A run is a citizen of a simpy.Environment: it goes on whenever the environment does."""

import gc
import os
import re
import signal
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import simpy

from dens.overlay.events import NotificationDelivered
from dens.trace.comparison import compare_runs
from emulation.direct_messages import LANGUAGE
from emulation.run import RunOptions, RunSummary, run_scenario, running
from emulation.running_world import RunningWorld
from emulation.scenario import Scenario, load_scenario
from emulation.world.watchers import Observed
from tests.emulation.forwarding.lines import FEVER, line, rows
from tests.paths import ROOT

Process = Generator[simpy.Event, Any, None]
WALKING = """
[[group]]
name = "walker"
role = "mediator"
count = 4
radio = "handheld"
mobility = { model = "random_waypoint", speed_m_per_s = [2, 4], pause_s = [0, 5] }
"""


def folder_bytes(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def moving(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scenario with contacts that come and go."""
    return line(tmp_path_factory.mktemp("moving"), "smp", WALKING, duration_s=600)


@pytest.fixture(scope="module")
def alone(moving: Path) -> dict[str, bytes]:
    """What its run writes in an environment of its own."""
    run_scenario(load_scenario(moving), 1, moving.parent / "alone")
    return folder_bytes(moving.parent / "alone")


def run_with(scenario: Scenario, out: Path, process: Callable[[RunningWorld], Process]) -> None:
    """Run a scenario with a process beside it, in an environment that goes on without an end."""
    environment = simpy.Environment()
    with running(scenario, 1, out, environment) as run:
        environment.process(process(run))
        environment.run()


# ---------------------------------------------------------------------- time


@pytest.mark.parametrize(
    ("begin", "ms_per_unit"),
    [(0, 1), (500.25, 1), (0.1, 1), (0, 1000), (1_763_000_000.1, 1000), (7, 60_000)],
)
def test_run_begins_at_any_time_in_any_unit(
    moving: Path, alone: dict[str, bytes], tmp_path: Path, begin: float, ms_per_unit: float
) -> None:
    environment = simpy.Environment(initial_time=begin)
    with running(
        load_scenario(moving), 1, tmp_path / "run", environment, RunOptions(ms_per_unit=ms_per_unit)
    ) as run:
        summary = environment.run(until=run.done)
        assert run.now_ms == 600_000
    assert isinstance(summary, RunSummary)
    assert summary.status == "complete"
    assert environment.now == pytest.approx(begin + 600_000 / ms_per_unit)
    assert folder_bytes(tmp_path / "run") == alone


def test_run_without_an_end_stops_when_all_runs_are_done(
    moving: Path, alone: dict[str, bytes], tmp_path: Path
) -> None:
    environment = simpy.Environment(initial_time=500.25)
    with ExitStack() as stack:
        first = stack.enter_context(running(load_scenario(moving), 1, tmp_path / "a", environment))
        environment.run(until=2000.5)
        second = stack.enter_context(running(load_scenario(moving), 1, tmp_path / "b", environment))
        other = stack.enter_context(running(load_scenario(moving), 2, tmp_path / "c", environment))
        environment.run()
        assert first.done.processed
        assert second.done.processed
        assert other.done.value.seed == 2
    assert environment.now == 2000.5 + 600_000
    assert folder_bytes(tmp_path / "a") == folder_bytes(tmp_path / "b") == alone
    assert folder_bytes(tmp_path / "c") != alone


def test_stepping_changes_nothing(moving: Path, alone: dict[str, bytes], tmp_path: Path) -> None:
    environment = simpy.Environment()
    with running(load_scenario(moving), 1, tmp_path / "until", environment) as run:
        while not run.done.triggered:
            environment.run(until=environment.now + 7777.7)
    with running(load_scenario(moving), 1, tmp_path / "step", environment) as run:
        while not run.done.processed:
            environment.step()
    assert folder_bytes(tmp_path / "until") == folder_bytes(tmp_path / "step") == alone


def test_run_left_early_is_a_partial_run(moving: Path, tmp_path: Path) -> None:
    scenario, environment = load_scenario(moving), simpy.Environment(initial_time=10)
    run_scenario(scenario, 1, tmp_path / "until", until_ms=300_000)
    with running(scenario, 1, tmp_path / "left", environment) as run:
        environment.run(until=300_010)
    assert run.done.value.status == "partial"
    assert folder_bytes(tmp_path / "left") == folder_bytes(tmp_path / "until")
    environment.run()
    assert folder_bytes(tmp_path / "left") == folder_bytes(tmp_path / "until"), "the run is over"


def test_progress_is_reported_at_the_time_of_the_environment(moving: Path, tmp_path: Path) -> None:
    environment, seen = simpy.Environment(), list[float]()
    with running(
        load_scenario(moving),
        1,
        tmp_path / "run",
        environment,
        progress=lambda step: seen.append(step.simulated_s),
    ) as run:
        environment.run(until=run.done)
    assert seen == [3.0 * step for step in range(1, 201)]


# ---------------------------------------------------------------------- what processes wait for


def test_waiting_for_every_delivery_changes_nothing(
    moving: Path, alone: dict[str, bytes], tmp_path: Path
) -> None:
    environment = simpy.Environment(initial_time=3)
    collected: list[Observed] = []
    awaited: list[Observed] = []

    def collect(run: RunningWorld) -> Process:
        inbox = run.deliveries()
        while True:
            collected.append((yield inbox.get()))
            assert environment.now - 3 == run.now_ms

    def wait(run: RunningWorld) -> Process:
        while True:
            observed = yield run.delivered("s0-1")
            assert (environment.now - 3, observed.node) == (observed.event.at_ms, "s0-1")
            awaited.append(observed)

    with running(load_scenario(moving), 1, tmp_path / "run", environment) as run:
        environment.process(collect(run))
        environment.process(wait(run))
        environment.run(until=run.done)
    assert folder_bytes(tmp_path / "run") == alone
    table = [row for row in rows(tmp_path / "run", "messages") if row["kind"] == "delivered"]
    assert [one.event.at_ms for one in collected] == [row["at_ms"] for row in table]
    assert len(collected) > 10
    assert set(awaited) <= set(collected)
    assert all(isinstance(one.event, NotificationDelivered) for one in collected)


def test_contacts_are_awaited_when_they_open_and_end(
    moving: Path, alone: dict[str, bytes], tmp_path: Path
) -> None:
    environment, seen = simpy.Environment(), list[tuple[str, int, bool]]()

    def watch(run: RunningWorld) -> Process:
        while True:
            at_ms = yield run.contact("walker-1", "walker-2")
            seen.append(("opened", at_ms, "walker-1" in run.in_range("walker-2")))
            at_ms = yield run.lost("walker-2", "walker-1")
            seen.append(("lost", at_ms, "walker-1" in run.in_range("walker-2")))

    with running(load_scenario(moving), 1, tmp_path / "run", environment) as run:
        pair = sorted((run.node("walker-1").number, run.node("walker-2").number))
        environment.process(watch(run))
        environment.run(until=run.done)
    assert folder_bytes(tmp_path / "run") == alone
    contacts = [row for row in rows(tmp_path / "run", "contacts") if [row["a"], row["b"]] == pair]
    assert len(contacts) > 1
    for row, opened in zip(contacts, seen[::2], strict=False):
        assert opened == ("opened", pytest.approx(row["begin_ms"] + 100, abs=2), True)
    for row, lost in zip(contacts, seen[1::2], strict=False):
        assert lost == ("lost", pytest.approx(row["end_ms"], abs=2), False)


def test_crash_ends_contacts(tmp_path: Path) -> None:
    environment, seen = simpy.Environment(), list[int]()

    def watch(run: RunningWorld) -> Process:
        yield run.lost("s0-1", "m1-1")
        seen.append(run.now_ms)
        yield run.contact("s0-1", "m1-1")
        seen.append(run.now_ms)

    def strike(run: RunningWorld) -> Process:
        yield run.contact("s0-1", "m1-1")
        yield run.timeout_ms(60_000)
        run.stop("m1-1")
        yield run.timeout_ms(60_000)
        run.start("m1-1")

    with running(load_scenario(line(tmp_path, "smp")), 1, tmp_path / "run", environment) as run:
        environment.run(until=1_000)
        environment.process(watch(run))
        environment.process(strike(run))
        environment.run(until=run.done)
    assert seen == [61_000, 121_000]


def test_matches_and_publications_are_awaited(tmp_path: Path) -> None:
    environment, seen = simpy.Environment(), list[tuple[str, str, int]]()

    def watch(run: RunningWorld, wait: Callable[[], simpy.Event]) -> Process:
        observed = yield wait()
        seen.append((observed.node, type(observed.event).__name__, run.now_ms))

    with running(load_scenario(line(tmp_path, "smp")), 1, tmp_path / "run", environment) as run:
        environment.process(watch(run, run.matched))
        environment.process(watch(run, lambda: run.published("p2-1")))
        environment.process(watch(run, lambda: run.matched("s0-1")))
        environment.run(until=run.done)
    published, matched = seen
    assert (published[:2], matched[:2]) == (("p2-1", "MessageCreated"), ("m1-1", "NotificationMatched"))
    [first, *_] = rows(tmp_path / "run", "notifications")
    assert published[2] == first["at_ms"] < matched[2]


def test_watch_ends_when_no_process_waits_for_it(tmp_path: Path) -> None:
    environment = simpy.Environment()
    kept: list[Any] = []

    def impatient(run: RunningWorld) -> Process:
        assert not run.world.clock.is_watched
        result = yield run.contact("s0-1", "p2-1") | run.timeout_ms(10)
        assert len(result.todict()) == 1
        yield run.timeout_ms(1)
        assert not run.world.clock.is_watched, "timed out"
        event = run.delivered()
        kept.append(event)
        yield event | run.timeout_ms(1)
        yield run.timeout_ms(1)
        assert run.world.clock.is_watched, "held by a variable"
        yield event
        assert not run.world.clock.is_watched, "happened"

    def interrupted(run: RunningWorld) -> Process:
        try:
            yield run.contact("s0-1", "p2-1")
        except simpy.Interrupt:
            yield run.timeout_ms(1)

    with running(load_scenario(line(tmp_path, "smp")), 1, tmp_path / "run", environment) as run:
        environment.run(until=environment.process(impatient(run)))
        assert kept[0].value.node == "s0-1"
        victim = environment.process(interrupted(run))
        environment.run(until=environment.now + 5)
        assert run.world.clock.is_watched
        victim.interrupt()
        environment.run(until=victim)
        assert not run.world.clock.is_watched, "interrupted"
        inbox = run.deliveries()
        assert run.world.clock.is_watched
        environment.run(until=environment.now + 60_000)
        inbox.cancel()
        inbox.cancel()
        assert not run.world.clock.is_watched
        assert inbox.items


def test_waiting_process_is_kept_while_the_collector_runs(tmp_path: Path) -> None:
    environment, seen = simpy.Environment(), list[int]()

    def wait(run: RunningWorld) -> Process:
        yield run.delivered()
        seen.append(run.now_ms)

    with running(load_scenario(line(tmp_path, "smp")), 1, tmp_path / "run", environment) as run:
        environment.process(wait(run))
        environment.run(until=1)
        gc.collect()
        environment.run(until=run.done)
    assert len(seen) == 1


# ---------------------------------------------------------------------- what processes do


def test_process_stops_starts_looks_and_publishes(tmp_path: Path) -> None:
    environment, seen = simpy.Environment(), list[tuple[int, bool, list[str]]]()

    def process(run: RunningWorld) -> Process:
        def look() -> None:
            seen.append((run.now_ms, run.is_up("m1-1"), run.in_range("s0-1")))

        yield environment.timeout(60_000)
        look()
        run.stop("m1-1")
        run.stop("m1-1")
        look()
        yield environment.timeout(30_000)
        run.start("m1-1")
        look()
        run.publish("p2-1", LANGUAGE, b"without a subscriber", 60)

    with running(load_scenario(line(tmp_path, "smp")), 1, tmp_path / "run", environment) as run:
        environment.process(process(run))
        environment.run(until=run.done)
    assert seen == [(60_000, True, ["m1-1"]), (60_000, False, []), (90_000, True, ["m1-1"])]
    states = [(row["at_ms"], row["state"], row["reason"]) for row in rows(tmp_path / "run", "node_state")]
    assert states[3:] == [(60_000, "down", "crash"), (90_000, "up", "restart")]
    own = [row for row in rows(tmp_path / "run", "notifications") if row["vector"] == b"without a subscriber"]
    assert [(row["at_ms"], row["origin"]) for row in own] == [(90_000, 2)]


def test_subscriptions_are_numbered_after_the_planned_ones_and_ids_are_reused(tmp_path: Path) -> None:
    path = line(tmp_path, "smp", '\n[[subscription]]\ngroup = "s0"\nfile = "fever.xml"\nat_s = 600\n')
    other = tmp_path / "other.xml"
    other.write_text(FEVER.replace("high", "low"))
    environment, ids = simpy.Environment(), list[int]()

    def subscribe(run: RunningWorld) -> Process:
        yield run.timeout_ms(1_000)
        ids.append(run.subscribe("s0-1", other))
        yield run.timeout_ms(1_000)
        run.stop("s0-1")
        ids.append(run.subscribe("s0-1", "fever.xml"))
        yield run.timeout_ms(1_000)
        run.start("s0-1")
        run.unsubscribe("s0-1", ids[0])
        yield run.timeout_ms(1_000)
        ids.append(run.subscribe("s0-1", other))

    with running(load_scenario(path), 1, tmp_path / "run", environment) as run:
        environment.process(subscribe(run))
        environment.run(until=run.done)
    assert ids == [2, 3, 2]
    table = [(row["id"], row["seq"], row["created_ms"]) for row in rows(tmp_path / "run", "subscriptions")]
    assert {(2, 0, 1_000), (3, 0, 3_000), (1, 0, 600_000)} <= set(table)
    assert [row[2] for row in table if row[0] == 2 and row[1] > 0] == [4_000]


def test_moved_device_meets_others(tmp_path: Path) -> None:
    environment, seen = simpy.Environment(), list[tuple[str, int]]()

    def process(run: RunningWorld) -> Process:
        yield run.contact("m1-1", "p2-1")
        assert run.place("p2-1") == (110.0, 10.0)
        arrival = run.move("p2-1", 310, 10, m_per_s=2)
        yield run.lost("m1-1", "p2-1")
        seen.append(("lost", run.now_ms))
        assert (yield arrival) == (310, 10)
        seen.append(("arrived", run.now_ms))
        assert run.place("p2-1") == (310.0, 10.0)
        replaced = run.move("p2-1", 110, 10, m_per_s=2)
        yield run.timeout_ms(50_000)
        yield run.move("p2-1", 210, 10, m_per_s=0.5)
        seen.append(("there", run.now_ms))
        yield run.move("p2-1", 210, 10, m_per_s=1)
        assert not replaced.triggered

    scenario = load_scenario(line(tmp_path, "smp"))
    with running(scenario, 1, tmp_path / "run", environment, RunOptions(movable=True)) as run:
        begun = environment.process(process(run))
        environment.run(until=run.done)
    assert begun.ok
    assert seen == [("lost", 5_099), ("arrived", 100_100), ("there", 150_100)]
    [leg, *_] = [
        row for row in rows(tmp_path / "run", "motion") if row["node"] == 2 and row["end_ms"] == 100_100
    ]
    assert (leg["x0_m"], leg["x1_m"]) == (110, 310)
    contacts = [row for row in rows(tmp_path / "run", "contacts") if (row["a"], row["b"]) == (1, 2)]
    assert [(row["begin_ms"], row["end_ms"]) for row in contacts] == [(0, pytest.approx(5_100, abs=1))]


def test_random_streams_belong_to_the_seed(tmp_path: Path) -> None:
    scenario, drawn = load_scenario(line(tmp_path, "smp")), list[float]()
    for seed in (1, 1, 2):
        with running(scenario, seed, tmp_path / "run", simpy.Environment(), RunOptions(force=True)) as run:
            drawn.append(run.random("jeep").random())
            assert drawn[-1] != run.random("ferry").random()
    assert drawn[0] == drawn[1] != drawn[2]


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda run: run.node("s1-1"), 'unknown node "s1-1".*did you mean "'),
        (lambda run: run.publish("m1-1", LANGUAGE, b"x"), 'node "m1-1" is a mediator, not a publisher'),
        (lambda run: run.subscribe("m1-1", "fever.xml"), 'node "m1-1" is a mediator, not a subscriber'),
        (lambda run: run.subscribe("s0-1", "fevr.xml"), 'the scenario names no file "fevr.xml"'),
        (lambda run: run.move("s0-1", 1, 1, 1), "this run is not movable"),
        (lambda run: run.place("s0-1"), "this run is not movable"),
        (lambda run: run.deliveries("s0"), 'unknown node "s0"'),
    ],
)
def test_exception_of_a_process_ends_the_run_and_leaves_nothing(
    tmp_path: Path, wrong: Callable[[RunningWorld], object], message: str
) -> None:
    def process(run: RunningWorld) -> Process:
        yield run.timeout_ms(1)
        wrong(run)

    with pytest.raises(ValueError, match=message):
        run_with(load_scenario(line(tmp_path, "smp")), tmp_path / "run", process)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("to", "message"),
    [
        ((-1, 10, 1), "the area is 1000 x 20 m"),
        ((10, 21, 1), "the area is 1000 x 20 m"),
        ((float("nan"), 10, 1), "the area is"),
        ((10, 10, 0), "the speed has to be above 0"),
        ((10, 10, float("inf")), "the speed has to be above 0"),
    ],
)
def test_device_moves_inside_the_area_only(
    tmp_path: Path, to: tuple[float, float, float], message: str
) -> None:
    scenario = load_scenario(line(tmp_path, "smp"))
    block = running(scenario, 1, tmp_path / "run", simpy.Environment(), RunOptions(movable=True))
    with block as run, pytest.raises(ValueError, match=message):
        run.move("s0-1", *to)


@pytest.mark.parametrize("change", ['links={kind="line"}', "contacts.file=met.csv"])
def test_runs_whose_contacts_do_not_follow_from_motion_are_not_movable(tmp_path: Path, change: str) -> None:
    (tmp_path / "met.csv").write_text("a,b,begin_s,end_s\n0,1,1,100\n")
    scenario = load_scenario(line(tmp_path, "smp"), [change])
    block = running(scenario, 1, tmp_path / "run", simpy.Environment(), RunOptions(movable=True))
    with pytest.raises(ValueError, match="cannot be moved where contacts are recorded or links"):
        block.__enter__()
    assert not (tmp_path / "run").exists()


def test_run_that_is_over_cannot_be_changed(tmp_path: Path) -> None:
    environment = simpy.Environment()
    with running(load_scenario(line(tmp_path, "smp")), 1, tmp_path / "run", environment) as run:
        environment.run()
        with pytest.raises(RuntimeError, match="the run is over"):
            run.stop("m1-1")
        assert run.counts["delivered"] > 0


def test_exception_after_the_end_of_the_run_keeps_it(tmp_path: Path) -> None:
    def process(run: RunningWorld) -> Process:
        yield run.done
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_with(load_scenario(line(tmp_path, "smp")), tmp_path / "run", process)
    assert '"status": "complete"' in (tmp_path / "run" / "manifest.json").read_text()


# ---------------------------------------------------------------------- interruptions and memory


def test_interrupt_during_a_call_waits_for_its_end(tmp_path: Path) -> None:
    environment, reached = simpy.Environment(), list[int]()

    def progress(_: object) -> None:
        if run.now_ms == 600_000 and not reached:
            os.kill(os.getpid(), signal.SIGINT)
            reached.append(run.now_ms)

    scenario = load_scenario(line(tmp_path, "smp"))
    run_scenario(scenario, 1, tmp_path / "until", until_ms=600_000)
    handler = signal.getsignal(signal.SIGINT)
    with (
        pytest.raises(KeyboardInterrupt),
        running(scenario, 1, tmp_path / "run", environment, progress=progress) as run,
    ):
        environment.run(until=run.done)
    assert reached == [600_000]
    assert run.done.value.status == "partial"
    assert signal.getsignal(signal.SIGINT) is handler
    assert folder_bytes(tmp_path / "run") == folder_bytes(tmp_path / "until")


def test_interrupt_of_a_process_is_immediate_and_ends_all_runs(tmp_path: Path) -> None:
    scenario, environment = load_scenario(line(tmp_path, "smp")), simpy.Environment()

    def endless(run: RunningWorld) -> Process:
        yield run.timeout_ms(500_000)
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            pass

    with (
        pytest.raises(KeyboardInterrupt),
        running(scenario, 1, tmp_path / "a", environment) as first,
        running(scenario, 2, tmp_path / "b", environment) as second,
    ):
        environment.run(until=environment.process(endless(first)))
    summaries = [first.done.value, second.done.value]
    assert [(one.status, one.simulated_s) for one in summaries] == [("partial", 500.0)] * 2


@pytest.mark.parametrize("pause_gc", [False, True])
def test_collector_is_paused_on_request_only(tmp_path: Path, pause_gc: bool) -> None:
    environment = simpy.Environment()
    with running(
        load_scenario(line(tmp_path, "smp")), 1, tmp_path / "run", environment, RunOptions(pause_gc=pause_gc)
    ) as run:
        assert gc.isenabled() is not pause_gc
        environment.run(until=run.done)
    assert gc.isenabled()


# ---------------------------------------------------------------------- the guide


def test_example_in_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "reference" / "scenario.md").read_text("utf-8")
    [example] = [one for one in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "running(" in one]
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(example, "docs/reference/scenario.md", "exec"), names)
    assert names["summary"].status == "complete"
    assert [word for _, word in names["log"] if word.startswith("doctors-")]
    assert [word for _, word in names["log"] if word.startswith("ferry")]
    down, up = [row for row in rows(tmp_path / "jeep", "node_state") if row["reason"] != "start"]
    assert (down["reason"], up["at_ms"] - down["at_ms"]) == ("crash", 1_800_000)
    run_scenario(load_scenario("two_islands"), 1, tmp_path / "undisturbed")
    assert "messages" in compare_runs(tmp_path / "jeep", tmp_path / "undisturbed").tables
