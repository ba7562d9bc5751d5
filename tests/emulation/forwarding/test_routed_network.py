"""Frames beyond range take the known way over the links there are, when a slow network says so."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.config.refusal import Refusal
from dens.trace.writer import TraceWriter
from emulation.clock import Clock, Rank
from emulation.forwarding.kind import ForwardingKind
from emulation.forwarding.routed_network import RoutedNetwork
from emulation.forwarding.shortest_path import SHORTEST_PATH
from emulation.forwarding.topology import KnownTopology
from emulation.ground_truth_recorder import GroundTruthRecorder
from emulation.radio import Air, Packet, Radio
from tests.emulation.forwarding.slow_network import SlowNetwork
from tests.sizes import examples

DEVICES = 6
PAIRS = [(a, b) for a in range(DEVICES) for b in range(a + 1, DEVICES)]
MANY = Radio(100.0, 1000.0, 0, 0.0, half_duplex=False, many_at_once=True)
"""One byte takes one millisecond, with every neighbour at once."""
UNTIL_MS = 600
HOP_LIMIT = 3


class Devices:
    """The devices of a network whose engines send nothing: records what the air and the network report."""

    def __init__(self, folder: Path, kind: ForwardingKind, roles: str, radio: Radio = MANY) -> None:
        self.trace = TraceWriter(folder / "trace").__enter__()
        self.clock = Clock()
        self.heard: list[tuple[Any, ...]] = []
        names = {"m": "mediator", "s": "subscriber", "f": "forwarder"}
        self.network = RoutedNetwork(
            self.clock,
            GroundTruthRecorder(self.trace),
            kind,
            [names[role] for role in roles],
            convergence_ms=40,
            hop_limit=HOP_LIMIT,
            header_bytes=5,
        )
        rngs = [np.random.default_rng(device) for device in range(len(roles))]
        self.air = Air(self.clock, [radio] * len(roles), rngs, self)
        self.network.begin(self.air, self)

    def change(self, link: tuple[int, int]) -> None:
        is_up = not self.air.has_link(*link)
        (self.air.open if is_up else self.air.close)(*link)
        self.network.link_changed(*link, is_up)

    def rows(self, folder: Path, name: str) -> list[dict[str, Any]]:
        self.network.close(self.clock.now_ms)
        self.trace.__exit__(None, None, None)
        return pq.read_table(folder / "trace" / name).to_pylist()

    def frame_sent(self, sender: int, receiver: int, data: bytes, octets: int, packet: Packet | None) -> None:
        assert packet is not None
        self.network.hop_began(packet)

    def frame_received(
        self, sender: int, receiver: int, data: bytes, octets: int, packet: Packet | None
    ) -> None:
        assert packet is not None
        if self.network.hop_ended(packet, sender, receiver, data):
            self.heard.append((self.clock.now_ms, "received", packet.number, receiver, data))

    def frame_lost(self, sender: int, receiver: int, data: bytes, reason: str, packet: Packet | None) -> None:
        assert packet is not None
        self.network.hop_failed(packet, sender, receiver, reason)

    def open_contact(self, a: int, b: int) -> None:
        self.heard.append((self.clock.now_ms, "open", a, b))

    def close_contact(self, a: int, b: int) -> None:
        self.heard.append((self.clock.now_ms, "close", a, b))

    def packet_sent(self, packet: Packet) -> None:
        self.heard.append((self.clock.now_ms, "sent", packet.number))

    def packet_lost(self, packet: Packet, reason: str) -> None:
        self.heard.append((self.clock.now_ms, reason, packet.number))


moments = st.integers(0, UNTIL_MS // 20).map(lambda tens: 10 * tens)
"""Few of them, and sizes to match, so that much happens in one millisecond."""
link_changes = st.lists(st.tuples(moments, st.sampled_from(PAIRS)), min_size=3, max_size=25, unique=True)
frames = st.lists(
    st.tuples(moments, st.permutations(range(DEVICES)), st.sampled_from([5, 15, 35])), min_size=1, max_size=12
)


@given(link_changes, frames)
@settings(max_examples=examples(100), deadline=None)
def test_frames_are_where_a_slow_network_says_at_every_moment(
    tmp_path_factory: pytest.TempPathFactory,
    links: list[tuple[int, tuple[int, int]]],
    sent: list[tuple[int, list[int], int]],
) -> None:
    """Links come and go, known 40 ms later; every hop of every frame ends where and when it should."""
    folder = tmp_path_factory.mktemp("network")
    devices = Devices(folder, SHORTEST_PATH, "f" * DEVICES)
    by_moment: dict[int, list[tuple[int, int]]] = {}
    orders: dict[int, list[tuple[int, int, int]]] = {}
    up: set[tuple[int, int]] = set()
    for at_ms, link in sorted(links):
        rank = Rank.CONTACT_LOST if link in up else Rank.CONTACT_OPENED
        up ^= {link}
        by_moment.setdefault(at_ms, []).append(link)
        devices.clock.call_at(at_ms, rank, devices.change, link)
    for at_ms, (source, destination, *_), size in sorted(sent):
        orders.setdefault(at_ms, []).append((source, destination, size))
        data = bytes(size)
        devices.clock.call_at(at_ms, Rank.APPLICATION, devices.network.send, source, destination, data)
    devices.clock.run_until(UNTIL_MS)
    slow = SlowNetwork(DEVICES, 40, HOP_LIMIT, 5).run(UNTIL_MS, by_moment, orders)
    rows = devices.rows(folder, "hops")
    assert all(row["hop"] <= HOP_LIMIT or row["lost"] == "hop_limit" for row in rows)
    for frame in slow:
        fate = [
            (row["at_ms"], row["node"], row["peer"], row["hop"], row["lost"])
            for row in rows
            if row["frame"] == frame.number
        ]
        assert fate == frame.fate
    assert sum(len(frame.fate) for frame in slow) == len(rows)
    arrived = {number for _, what, number, *_ in devices.heard if what == "received"}
    assert arrived == {
        frame.number for frame in slow if frame.fate and frame.fate[-1][2:5:2] == (frame.destination, None)
    }


def test_what_becomes_known_is_known_last_in_its_millisecond(tmp_path: Path) -> None:
    devices = Devices(tmp_path, SHORTEST_PATH, "fff")
    for link in ((0, 1), (1, 2)):
        devices.change(link)
    for at_ms in (40, 41):
        devices.clock.call_at(at_ms, Rank.TIMER, devices.network.send, 0, 2, b"x")
    devices.clock.run_until(100)
    told = [(row["at_ms"], row["frame"], row["lost"]) for row in devices.rows(tmp_path, "hops")]
    assert told == [(40, 1, "no_route"), (47, 2, None), (53, 2, None)]


class Circle:
    """Sends everything round and round: 0, 1, 2, 0, …"""

    def __init__(self, topology: KnownTopology) -> None:
        pass

    def link_changed(self, a: int, b: int, is_up: bool) -> None:
        pass

    def next_hop(self, node: int, destination: int) -> int | None:
        return (node + 1) % 3


class Broken(Circle):
    """Fails on every query."""

    def next_hop(self, node: int, destination: int) -> int | None:
        raise KeyError(destination)


def test_routing_loop_ends_at_the_hop_limit_and_is_reported(tmp_path: Path) -> None:
    devices = Devices(tmp_path, ForwardingKind("circle", "", Circle), "ffff")
    for link in ((0, 1), (1, 2), (0, 2)):
        devices.change(link)
    devices.network.send(0, 3, b"x" * 5)
    devices.clock.run_until(1000)
    assert devices.heard == [(0, "sent", 1), (30, "hop_limit", 1)]
    rows = devices.rows(tmp_path, "hops")
    assert [(row["node"], row["peer"], row["lost"]) for row in rows] == [
        (0, 1, None),
        (1, 2, None),
        (2, 0, None),
        (0, None, "hop_limit"),
    ]
    assert devices.air.frames_sent == 3


def test_failing_router_is_reported(tmp_path: Path) -> None:
    devices = Devices(tmp_path, ForwardingKind("pigeon", "", Broken), "ff")
    with pytest.raises(Refusal, match='the forwarding layer "pigeon" failed: KeyError: 1'):
        devices.network.send(0, 1, b"x")


@pytest.mark.parametrize("answer", ["mast-1", 1.0, float("nan"), [1], (1,), object()])
def test_router_answer_other_than_a_device_is_reported(tmp_path: Path, answer: Any) -> None:
    class Odd(Circle):
        def next_hop(self, node: int, destination: int) -> int | None:
            return answer  # type: ignore[no-any-return]

    devices = Devices(tmp_path, ForwardingKind("odd", "", Odd), "ff")
    with pytest.raises(
        Refusal, match='"odd" failed: TypeError: next_hop has to return a device or None, not'
    ):
        devices.network.send(0, 1, b"x")


@pytest.mark.parametrize("answer", [-1, 2, 2**40, 10**30])
def test_a_next_hop_that_does_not_exist_loses_the_frame(tmp_path: Path, answer: int) -> None:
    class Astray(Circle):
        def next_hop(self, node: int, destination: int) -> int | None:
            return answer

    devices = Devices(tmp_path, ForwardingKind("astray", "", Astray), "ff")
    devices.network.send(0, 1, b"x")
    [row] = devices.rows(tmp_path, "hops")
    assert (row["node"], row["peer"], row["lost"]) == (0, None, "no_route")


def test_router_that_raises_system_exit_is_reported(tmp_path: Path) -> None:
    class Leaver(Circle):
        def next_hop(self, node: int, destination: int) -> int | None:
            raise SystemExit(0)

    devices = Devices(tmp_path, ForwardingKind("leaver", "", Leaver), "ff")
    with pytest.raises(Refusal, match='"leaver" failed: SystemExit'):
        devices.network.send(0, 1, b"x")


class Unbuilt(Circle):
    """Fails when it is made."""

    def __init__(self, topology: KnownTopology) -> None:
        raise ValueError("no map")


def test_router_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match='the forwarding layer "lost" failed: ValueError: no map'):
        Devices(tmp_path, ForwardingKind("lost", "", Unbuilt), "ff")


def test_a_contact_beyond_range_follows_what_is_known_and_goes_on_in_range(tmp_path: Path) -> None:
    """A subscriber, two that forward, a mediator: their contact opens when the chain is known, goes on while
    they are in range of each other too, and ends when the break is known."""
    devices = Devices(tmp_path, SHORTEST_PATH, "sffm")
    call_at = devices.clock.call_at
    for at_ms, link in ((0, (0, 1)), (0, (1, 2)), (10, (2, 3))):
        call_at(at_ms, Rank.CONTACT_OPENED, devices.change, link)
    call_at(60, Rank.CONTACT_OPENED, devices.change, (0, 3))
    call_at(70, Rank.CONTACT_LOST, devices.change, (0, 3))
    call_at(200, Rank.CONTACT_LOST, devices.change, (1, 2))
    devices.clock.run_until(500)
    assert devices.heard == [
        (50, "open", 0, 3),
        (100, "close", 0, 3),
        (110, "open", 0, 3),
        (240, "close", 0, 3),
    ], "from 100 to 110 they are known to be in range, and are not"
    assert [tuple(row.values()) for row in devices.rows(tmp_path, "overlay_contacts")] == [
        (0, 3, 50, 100, 3, False),
        (0, 3, 110, 240, 3, False),
    ]
