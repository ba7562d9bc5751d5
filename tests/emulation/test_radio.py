"""Frames take their time, share the air, and are cut when contacts end."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulation.clock import Clock, Rank
from emulation.radio import LOST_ON_AIR, Air, Packet, Radio
from tests.sizes import examples

FAST = Radio(range_m=50.0, rate_bytes_per_s=1000.0, setup_ms=0, loss=0.0)
"""One byte takes one millisecond."""


@dataclass
class Log:
    """Writes down what it hears, with the time."""

    clock: Clock
    lines: list[tuple[int, str, int, int, bytes]] = field(default_factory=list)
    octets: list[int] = field(default_factory=list)
    """On the air, of each frame that was sent or received."""

    def frame_sent(self, sender: int, receiver: int, data: bytes, octets: int, packet: Packet | None) -> None:
        self.lines.append((self.clock.now_ms, "sent", sender, receiver, data))
        self.octets.append(octets)

    def frame_received(
        self, sender: int, receiver: int, data: bytes, octets: int, packet: Packet | None
    ) -> None:
        self.lines.append((self.clock.now_ms, "received", sender, receiver, data))
        self.octets.append(octets)

    def frame_lost(self, sender: int, receiver: int, data: bytes, reason: str, packet: Packet | None) -> None:
        self.lines.append((self.clock.now_ms, reason, sender, receiver, data))


def air(nodes: int, radio: Radio = FAST) -> tuple[Clock, Air, Log]:
    clock = Clock()
    log = Log(clock)
    return clock, Air(clock, [radio] * nodes, [np.random.default_rng(n) for n in range(nodes)], log), log


def test_a_frame_takes_its_bytes_divided_by_the_rate() -> None:
    clock, medium, log = air(2)
    medium.open(0, 1)
    medium.send(0, 1, b"x" * 25)
    clock.run_until(100)
    assert log.lines == [(0, "sent", 0, 1, b"x" * 25), (25, "received", 0, 1, b"x" * 25)]


def test_the_slower_radio_sets_the_rate() -> None:
    clock = Clock()
    log = Log(clock)
    slow = Radio(50.0, 500.0, 70, 0.0)
    medium = Air(clock, [FAST, slow], [np.random.default_rng(0)] * 2, log)
    medium.open(0, 1)
    medium.send(0, 1, b"x" * 25)
    clock.run_until(100)
    assert log.lines[-1][:2] == (50, "received")


def test_small_frames_share_a_millisecond() -> None:
    clock, medium, log = air(2, Radio(50.0, 8_000.0, 0, 0.0))
    medium.open(0, 1)
    for letter in b"abcdefghijklmnop":
        medium.send(0, 1, bytes([letter]))
    clock.run_until(10)
    received = [line for line in log.lines if line[1] == "received"]
    assert [line[0] for line in received] == [1] * 8 + [2] * 8
    assert b"".join(line[4] for line in received) == b"abcdefghijklmnop"


def test_a_node_takes_part_in_one_transfer_at_a_time() -> None:
    clock, medium, log = air(3)
    medium.open(0, 1)
    medium.open(1, 2)
    medium.send(0, 1, b"x" * 10)
    medium.send(2, 1, b"y" * 10)
    medium.send(1, 0, b"z" * 10)
    clock.run_until(100)
    assert [line[:4] for line in log.lines] == [
        (0, "sent", 0, 1),
        (10, "received", 0, 1),
        (10, "sent", 2, 1),
        (20, "received", 2, 1),
        (20, "sent", 1, 0),
        (30, "received", 1, 0),
    ]


def test_pairs_that_share_no_node_talk_at_the_same_time() -> None:
    clock, medium, log = air(4)
    medium.open(0, 1)
    medium.open(2, 3)
    medium.send(0, 1, b"x" * 10)
    medium.send(2, 3, b"y" * 10)
    clock.run_until(100)
    assert [line[:2] for line in log.lines] == [(0, "sent"), (0, "sent"), (10, "received"), (10, "received")]


def test_the_end_of_a_contact_cuts_what_is_on_the_air_and_forgets_what_waits() -> None:
    clock, medium, log = air(3)
    medium.open(0, 1)
    medium.open(0, 2)
    medium.send(0, 1, b"x" * 10)
    medium.send(0, 1, b"never")
    medium.send(0, 2, b"y" * 10)
    clock.call_at(7, Rank.CONTACT_LOST, lambda: medium.close(0, 1))
    clock.run_until(100)
    assert [line[:4] for line in log.lines] == [
        (0, "sent", 0, 1),
        (7, "contact_ended", 0, 1),
        (7, "sent", 0, 2),
        (17, "received", 0, 2),
    ]


def test_a_frame_that_is_whole_in_the_last_millisecond_arrives() -> None:
    clock, medium, log = air(2)
    clock.call_at(10, Rank.CONTACT_LOST, lambda: medium.close(0, 1))
    medium.open(0, 1)
    medium.send(0, 1, b"x" * 10)
    clock.run_until(100)
    assert log.lines[-1][:2] == (10, "received")


def test_without_a_contact_a_frame_is_forgotten() -> None:
    clock, medium, log = air(2)
    medium.send(0, 1, b"x")
    clock.run_until(100)
    assert log.lines == []


def test_the_share_of_lost_frames_is_the_worse_radios_loss() -> None:
    clock = Clock()
    log = Log(clock)
    radios = [Radio(50.0, 1e6, 0, 0.1), Radio(50.0, 1e6, 0, 0.3)]
    medium = Air(clock, radios, [np.random.default_rng(n) for n in range(2)], log)
    medium.open(0, 1)
    for _ in range(4000):
        medium.send(0, 1, b"x")
    clock.run_until(100)
    lost = sum(line[1] == "radio" for line in log.lines)
    assert lost / 4000 == pytest.approx(0.3, abs=0.03)
    assert sum(line[1] in ("radio", "received") for line in log.lines) == 4000


sends = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 3), st.integers(0, 3), st.integers(1, 40)), max_size=30
)


@given(sends, st.dictionaries(st.sampled_from([(0, 1), (0, 2), (1, 2), (2, 3)]), st.integers(1, 300)))
@settings(max_examples=examples(150), deadline=None)
def test_node_has_one_transfer_at_a_time_and_every_frame_one_outcome(
    wanted: list[tuple[int, int, int, int]], contacts: dict[tuple[int, int], int]
) -> None:
    clock, medium, log = air(4)
    for (a, b), end in contacts.items():
        medium.open(a, b)
        clock.call_at(end, Rank.CONTACT_LOST, lambda a=a, b=b: medium.close(a, b))
    for number, (at_ms, sender, receiver, size) in enumerate(wanted):
        frame = number.to_bytes(2, "big").ljust(size + 1, b".")
        clock.call_at(at_ms, Rank.APPLICATION, lambda s=sender, r=receiver, f=frame: medium.send(s, r, f))
    clock.run_until(3000)
    busy: dict[int, bytes] = {}
    fates: dict[bytes, list[str]] = {}
    begun: dict[bytes, int] = {}
    for at_ms, what, sender, receiver, data in log.lines:
        fates.setdefault(data, []).append(what)
        if what == "sent":
            assert sender not in busy
            assert receiver not in busy
            busy[sender] = busy[receiver] = data
            begun[data] = at_ms
        else:
            assert busy.pop(sender) == busy.pop(receiver) == data
        if what == "received":
            assert at_ms - begun[data] == len(data)
    assert busy == {}
    assert all(fate in (["sent", "received"], ["sent", "contact_ended"]) for fate in fates.values())
    for number, (at_ms, sender, receiver, size) in enumerate(wanted):
        end = contacts.get((min(sender, receiver), max(sender, receiver)), -1)
        if at_ms > end:
            assert number.to_bytes(2, "big").ljust(size + 1, b".") not in fates


def test_a_full_duplex_radio_sends_and_receives_at_once() -> None:
    clock, medium, log = air(3, replace(FAST, half_duplex=False))
    medium.open(0, 1)
    medium.open(0, 2)
    medium.send(0, 1, b"x" * 10)
    medium.send(1, 0, b"y" * 10)
    medium.send(0, 2, b"z" * 10)  # it can send to one at a time only
    clock.run_until(100)
    assert [line[:4] for line in log.lines if line[1] == "received"] == [
        (10, "received", 0, 1),
        (10, "received", 1, 0),
        (20, "received", 0, 2),
    ]


def test_many_channels_serve_every_neighbour_at_once() -> None:
    clock, medium, log = air(3, replace(FAST, many_at_once=True))
    medium.open(0, 1)
    medium.open(0, 2)
    for receiver in (1, 2):
        medium.send(0, receiver, b"x" * 10)
    medium.send(1, 0, b"y" * 10)  # half duplex still: this contact has one channel
    clock.run_until(100)
    assert [line[:4] for line in log.lines if line[1] == "received"] == [
        (10, "received", 0, 1),
        (10, "received", 0, 2),
        (20, "received", 1, 0),
    ]


def test_one_channel_at_either_end_is_one_channel() -> None:
    clock = Clock()
    log = Log(clock)
    radios = [FAST, replace(FAST, many_at_once=True), replace(FAST, many_at_once=True)]
    medium = Air(clock, radios, [np.random.default_rng(0)] * 3, log)
    medium.open(0, 1)
    medium.open(0, 2)
    medium.send(1, 0, b"x" * 10)
    medium.send(2, 0, b"y" * 10)
    clock.run_until(100)
    assert [line[0] for line in log.lines if line[1] == "received"] == [10, 20]


def test_a_long_message_takes_several_frames_with_their_overhead() -> None:
    clock, medium, log = air(2, replace(FAST, frame_bytes=10, overhead_bytes=3))
    medium.open(0, 1)
    medium.send(0, 1, b"x" * 25)
    medium.send(0, 1, b"y" * 10)
    clock.run_until(100)
    assert [line[0] for line in log.lines if line[1] == "received"] == [25 + 9, 25 + 9 + 13]


@given(st.integers(0, 70), st.integers(0, 5), st.integers(1, 200))
def test_listeners_hear_of_every_byte_on_the_air(frame_bytes: int, overhead_bytes: int, size: int) -> None:
    clock, medium, log = air(2, replace(FAST, frame_bytes=frame_bytes, overhead_bytes=overhead_bytes))
    medium.open(0, 1)
    medium.send(0, 1, b"x" * size)
    clock.run_until(10_000)
    frames = len(range(0, size, frame_bytes)) if frame_bytes else 1
    assert log.octets == [size + frames * overhead_bytes] * 2
    assert medium.frames_sent == frames
    assert log.lines[-1][0] == log.octets[0], "one byte takes one millisecond"


def test_a_message_of_many_frames_is_lost_with_any_of_them() -> None:
    def share_lost(octets: int) -> float:
        clock, medium, log = air(2, replace(FAST, rate_bytes_per_s=1e6, loss=0.1, frame_bytes=10))
        medium.open(0, 1)
        for _ in range(3000):
            medium.send(0, 1, b"x" * octets)
        clock.run_until(10_000_000)
        return sum(line[1] == LOST_ON_AIR for line in log.lines) / 3000

    assert share_lost(10) == pytest.approx(0.1, abs=0.02)
    assert share_lost(50) == pytest.approx(1 - 0.9**5, abs=0.03)


@pytest.mark.parametrize(("resumes", "arrives_ms"), [(False, 200 + 100), (True, 200 + 100 - 60)])
def test_a_cut_transfer_is_resumed_or_begun_again(resumes: bool, arrives_ms: int) -> None:
    clock, medium, log = air(2, replace(FAST, resumes=resumes))
    medium.open(0, 1)
    medium.send(0, 1, b"x" * 100)
    clock.call_at(40, Rank.CONTACT_LOST, lambda: medium.close(0, 1))
    clock.call_at(100, Rank.CONTACT_OPENED, lambda: medium.open(0, 1))
    clock.call_at(100, Rank.TIMER, lambda: medium.send(0, 1, b"x" * 100))
    clock.call_at(120, Rank.CONTACT_LOST, lambda: medium.close(0, 1))
    clock.call_at(200, Rank.CONTACT_OPENED, lambda: medium.open(0, 1))
    clock.call_at(200, Rank.TIMER, lambda: medium.send(0, 1, b"x" * 100))
    clock.run_until(1000)
    assert [line[0] for line in log.lines if line[1] == "received"] == [arrives_ms]


def test_another_message_is_not_taken_for_the_rest_of_the_cut_one() -> None:
    clock, medium, log = air(2, replace(FAST, resumes=True))
    medium.open(0, 1)
    medium.send(0, 1, b"x" * 100)
    clock.call_at(40, Rank.CONTACT_LOST, lambda: medium.close(0, 1))
    clock.call_at(100, Rank.CONTACT_OPENED, lambda: medium.open(0, 1))
    clock.call_at(100, Rank.TIMER, lambda: medium.send(0, 1, b"y" * 100))
    clock.run_until(1000)
    assert [line[0] for line in log.lines if line[1] == "received"] == [200]
