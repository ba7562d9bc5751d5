"""What happens first within one millisecond, and in an environment that is shared with others."""

import re
from collections.abc import Generator
from typing import Any

import pytest
import simpy

from emulation.clock import Clock, Rank
from tests.paths import ROOT


def test_events_of_a_millisecond_run_by_rank_then_insertion_and_timers_by_node() -> None:
    clock = Clock()
    happened: list[tuple[int, str]] = []

    def note(word: str) -> None:
        happened.append((clock.now_ms, word))

    clock.call_at(5, Rank.CONTACT_LOST, note, "lost")
    clock.wake_at(5, 2**31 - 1, note, "timer 2147483647")
    clock.wake_at(5, 9, note, "timer 9")
    clock.wake_at(5, 0, note, "timer 0")
    clock.call_at(5, Rank.CONTACT_OPENED, note, "opened")
    clock.call_at(5, Rank.ARRIVAL, note, "second arrival")
    clock.call_at(5, Rank.ARRIVAL, note, "third arrival")
    clock.call_at(4, Rank.CONTACT_LOST, note, "earlier")
    clock.call_at(5, Rank.APPLICATION, note, "application")
    clock.run_until(5)
    assert happened == [(4, "earlier")]
    clock.run_until(6)
    words = [
        "application",
        "second arrival",
        "third arrival",
        "opened",
        "timer 0",
        "timer 9",
        "timer 2147483647",
        "lost",
    ]
    assert happened[1:] == [(5, word) for word in words]


def test_a_time_in_the_past_means_now() -> None:
    clock = Clock()
    clock.run_until(10)
    happened: list[int] = []
    clock.call_at(3, Rank.APPLICATION, lambda: happened.append(clock.now_ms))
    clock.run_until(11)
    assert happened == [10]


def test_an_interruption_comes_between_two_calls() -> None:
    clock, done = Clock(), list[str]()

    def interrupted() -> None:
        done.append("begun")
        clock.interrupt(stop)
        done.append("ended")

    def stop() -> None:
        raise KeyboardInterrupt

    clock.call_at(5, Rank.APPLICATION, interrupted)
    clock.call_at(5, Rank.APPLICATION, done.append, "too late")
    with pytest.raises(KeyboardInterrupt):
        clock.run_until(10)
    assert (done, clock.now_ms) == (["begun", "ended"], 5)


def test_calls_and_events_of_others_happen_in_the_order_of_time() -> None:
    environment = simpy.Environment(initial_time=100)
    clock = Clock(environment)
    happened: list[tuple[float, int, str]] = []

    def note(word: str) -> None:
        happened.append((environment.now, clock.now_ms, word))

    def other() -> Generator[simpy.Event, Any, None]:
        yield environment.timeout(2)
        clock.catch_up()
        note("theirs at 2")
        clock.call_at(clock.now_ms, Rank.APPLICATION, note, "put at 2")
        yield environment.timeout(0.5)
        clock.catch_up()
        note("theirs at 2.5")
        clock.call_at(clock.now_ms, Rank.APPLICATION, note, "put at 2.5")
        yield environment.timeout(2.5)
        clock.catch_up()
        note("theirs at 5")

    for at_ms in (1, 2, 3, 5):
        clock.call_at(at_ms, Rank.ARRIVAL, note, f"ours at {at_ms}")
    environment.process(other())
    clock.run_until(5)
    assert (environment.now, clock.now_ms) == (105, 5)
    clock.run_until(6)
    assert happened == [
        (101, 1, "ours at 1"),
        (102, 2, "theirs at 2"),
        (102, 2, "put at 2"),
        (102, 2, "ours at 2"),
        (102.5, 3, "theirs at 2.5"),
        (103, 3, "put at 2.5"),
        (103, 3, "ours at 3"),
        (105, 5, "theirs at 5"),
        (105, 5, "ours at 5"),
    ], "what happens between two milliseconds counts as the second"


def test_calls_ahead_of_the_environment_stop_at_its_next_event() -> None:
    environment, seen = simpy.Environment(), list[tuple[float, int]]()
    clock = Clock(environment)

    def note(again_ms: int) -> None:
        seen.append((environment.now, clock.now_ms))
        clock.call_at(again_ms, Rank.TIMER, note, again_ms + 1)

    clock.call_at(1, Rank.TIMER, note, 2)
    environment.timeout(3.5)
    clock.horizon_ms = 6
    environment.step()
    assert seen == [(1, 1), (1, 2), (1, 3)], "one step, up to the event of others"
    environment.run(until=4)
    environment.step()  # SimPy's own event for the end of `run`
    environment.step()
    assert seen[3:] == [(4, 4), (4, 5)], "up to the end of the run"
    clock.is_watched = True
    environment.run(until=9)
    assert seen[5:] == [(6, 6), (7, 7), (8, 8)], "not ahead while processes wait"


@pytest.mark.parametrize("begin", [0, 0.1, 1_763_000_000.3])
def test_environment_in_seconds_meets_whole_milliseconds(begin: float) -> None:
    environment, seen = simpy.Environment(initial_time=begin), list[int]()
    clock = Clock(environment, ms_per_unit=1000)

    def other() -> Generator[simpy.Event, Any, None]:
        for _ in range(2_000):
            yield environment.timeout(0.001)
            clock.catch_up()
            seen.append(clock.now_ms)

    environment.run(until=environment.process(other()))
    assert seen == list(range(1, 2_001))


def test_exceptions_of_calls_pass_unchanged() -> None:
    class Own(Exception):
        def __init__(self, what: str, where: str) -> None:
            super().__init__(f"{what} in {where}")

    raised, clock = Own("fire", "the hold"), Clock()

    def fail() -> None:
        raise raised

    clock.call_at(5, Rank.APPLICATION, fail)
    with pytest.raises(Own) as caught:
        clock.environment.run()
    assert caught.value is raised


def test_ended_clock_leaves_the_environment_to_others() -> None:
    environment, happened = simpy.Environment(), list[str]()
    clock = Clock(environment)
    clock.call_at(5, Rank.APPLICATION, happened.append, "first")
    clock.call_at(10, Rank.APPLICATION, happened.append, "second")
    environment.run(until=7)
    clock.end()
    environment.run()
    assert happened == ["first"]


def test_only_public_names_of_simpy_are_used() -> None:
    private = re.compile(r"\b(?:environment|env|event|tick|simpy(?:\.\w+)*|super\(\))\._[a-z]\w*")
    files = [*(ROOT / "emulation").rglob("*.py")]
    users = [path for path in files if "import simpy" in path.read_text("utf-8")]
    assert {path.name for path in users} >= {"clock.py", "watchers.py", "running_world.py", "run.py"}
    assert [found for path in users for found in private.findall(path.read_text("utf-8"))] == []
