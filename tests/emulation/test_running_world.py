"""Processes of others live beside a run, in one time with it."""

import re
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
import simpy

from dens.trace.comparison import compare_runs
from emulation.clock import Clock, Rank
from emulation.direct_messages import LANGUAGE
from emulation.run import run_scenario
from emulation.running_world import RunningWorld
from emulation.scenario import load_scenario
from tests.emulation.forwarding.lines import line, rows
from tests.paths import ROOT

Process = Generator[simpy.Event, Any, None]


def test_nobody_beside_it_changes_nothing(tmp_path: Path) -> None:
    scenario = load_scenario(line(tmp_path, "smp"))
    run_scenario(scenario, 1, tmp_path / "alone")
    run_scenario(scenario, 1, tmp_path / "within", environment=simpy.Environment())
    names = [
        path.relative_to(tmp_path / "alone") for path in (tmp_path / "alone").rglob("*") if path.is_file()
    ]
    assert names
    for name in names:
        assert (tmp_path / "alone" / name).read_bytes() == (tmp_path / "within" / name).read_bytes()


def test_one_queue_has_the_calls_of_both_in_the_order_of_time() -> None:
    environment = simpy.Environment()
    clock = Clock(environment)
    happened: list[tuple[float, int, str]] = []

    def note(word: str) -> None:
        happened.append((environment.now, clock.now_ms, word))

    def other() -> Process:
        yield environment.timeout(2)
        note("theirs at 2")
        clock.call_at(clock.now_ms, Rank.APPLICATION, note, "asked at 2")
        yield environment.timeout(0.5)
        note("theirs at 2.5")
        clock.call_at(clock.now_ms, Rank.APPLICATION, note, "asked at 2.5")
        yield environment.timeout(2.5)
        note("theirs at 5")

    for at_ms in (1, 2, 3, 5):
        clock.call_at(at_ms, Rank.ARRIVAL, note, f"ours at {at_ms}")
    environment.process(other())
    clock.run_until(5)
    assert (environment.now, clock.now_ms) == (5, 5)
    clock.run_until(6)
    assert happened == [
        (1, 1, "ours at 1"),
        (2, 2, "theirs at 2"),
        (2, 2, "asked at 2"),
        (2, 2, "ours at 2"),
        (2.5, 3, "theirs at 2.5"),
        (3, 3, "asked at 2.5"),
        (3, 3, "ours at 3"),
        (5, 5, "theirs at 5"),
        (5, 5, "ours at 5"),
    ], "what happens between two milliseconds happens for us in the second"


def test_an_environment_that_has_begun_is_refused() -> None:
    with pytest.raises(ValueError, match="the environment is at 7; a run begins at 0"):
        Clock(simpy.Environment(initial_time=7))


def test_a_process_stops_starts_looks_and_publishes(tmp_path: Path) -> None:
    seen: list[tuple[int, bool, list[str]]] = []

    def process(run: RunningWorld) -> Process:
        def look() -> None:
            seen.append((run.now_ms, run.is_up("m1-1"), run.in_range("s0-1")))

        yield run.environment.timeout(60_000)
        look()
        run.stop("m1-1")
        run.stop("m1-1")
        look()
        yield run.environment.timeout(30_000)
        run.start("m1-1")
        look()
        run.publish("p2-1", LANGUAGE, b"nobody asked", 60)

    scenario = load_scenario(line(tmp_path, "smp"))
    run_scenario(scenario, 1, tmp_path / "run", beside=lambda run: begin(run, process))
    assert seen == [(60_000, True, ["m1-1"]), (60_000, False, []), (90_000, True, ["m1-1"])]
    states = [(row["at_ms"], row["state"], row["reason"]) for row in rows(tmp_path / "run", "node_state")]
    assert states[3:] == [(60_000, "down", "crash"), (90_000, "up", "restart")]
    told = [row for row in rows(tmp_path / "run", "notifications") if row["vector"] == b"nobody asked"]
    assert [(row["at_ms"], row["origin"]) for row in told] == [(90_000, 2)]


def begin(run: RunningWorld, process: Any) -> None:
    run.environment.process(process(run))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        pytest.param(lambda run: run.node("nobody-1"), 'there is no node "nobody-1"', id="nobody"),
        pytest.param(
            lambda run: run.publish("m1-1", LANGUAGE, b"x"),
            'node "m1-1" publishes nothing: it is a mediator',
            id="a mediator",
        ),
    ],
)
def test_what_a_process_raises_ends_the_run_and_leaves_nothing(
    tmp_path: Path, wrong: Callable[[RunningWorld], object], said: str
) -> None:
    def process(run: RunningWorld) -> Process:
        yield run.environment.timeout(1)
        wrong(run)

    scenario = load_scenario(line(tmp_path, "smp"))
    with pytest.raises(ValueError, match=said):
        run_scenario(scenario, 1, tmp_path / "run", beside=lambda run: begin(run, process))
    assert not (tmp_path / "run").exists()


def test_the_example_in_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [text] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "scenario.md").read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(text, "docs/scenario.md", "exec"), names)
    assert names["summary"].delivered > 0
    minutes = [at_ms for at_ms, _, _ in names["book"]]
    assert minutes == list(range(60_000, 60_000 * (len(minutes) + 1), 60_000))
    down, up = [row for row in rows(tmp_path / "sunk", "node_state") if row["reason"] != "start"]
    assert (down["reason"], up["at_ms"] - down["at_ms"]) == ("crash", 1_800_000)
    run_scenario(load_scenario("two_islands"), 1, tmp_path / "afloat")
    assert "messages" in compare_runs(tmp_path / "sunk", tmp_path / "afloat").tables


@pytest.mark.parametrize("steps", [simpy.Environment.step, lambda environment: environment.run(until=5_000)])
def test_nobody_else_steps_the_environment_of_a_run(tmp_path: Path, steps: Any) -> None:
    def impatient(environment: simpy.Environment) -> Process:
        yield environment.timeout(1_000)
        while True:
            steps(environment)

    def beside(run: RunningWorld) -> None:
        run.environment.process(impatient(run.environment))

    scenario = load_scenario(line(tmp_path, "smp"))
    for begins in (beside, lambda run: steps(run.environment)):
        with pytest.raises(RuntimeError, match="a run steps its environment itself"):
            run_scenario(
                scenario, 1, tmp_path / "run", environment=simpy.Environment(), beside=begins, force=True
            )
