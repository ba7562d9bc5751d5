"""What happens first within one millisecond."""

import pytest

from emulation.clock import Clock, Rank


def test_a_millisecond_goes_by_rank_then_as_asked_and_timers_by_node() -> None:
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
    clock.call_at(5, Rank.APPLICATION, note, "asked")
    clock.run_until(5)
    assert happened == [(4, "earlier")]
    clock.run_until(6)
    words = [
        "asked",
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
