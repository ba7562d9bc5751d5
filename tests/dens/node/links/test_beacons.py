"""Beacons over real sockets, on the loopback interface: they are heard, go one hop, and say what is wrong."""

import asyncio
import os
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dens.node.links.beacons import (
    BROADCAST,
    BeaconInterface,
    Beacons,
    InterfaceError,
    interface_index,
    open_listener,
)
from dens.node.links.discovery import Beacon, Discovery
from dens.node.links.neighbours import Address
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.codes import Role

LONG_S = 60.0
_IP_RECVTTL = 12
PORT = 20_000 + os.getpid() % 20_000
"""Of its own for every process: a port hears each group that anybody on this machine has joined."""
LOOPBACK = BeaconInterface("lo", "239.255.68.70", PORT)


def clock_ms() -> int:
    return time.monotonic_ns() // 1_000_000


class Speaker:
    """The beacons of one node, and whom it heard."""

    def __init__(self, number: int, key: bytes | None = b"mission", at: BeaconInterface = LOOPBACK) -> None:
        self.talking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.talking.setblocking(False)
        self.talking.bind(("127.0.0.1", 0))
        self.place = self.talking.getsockname()
        self.found: list[tuple[Beacon, Address]] = []
        self.said: list[str] = []
        discovery = Discovery(Authenticator(number, key), 7, Role.MEDIATOR, 1, 100, clock_ms())
        self.beacons = Beacons(
            discovery,
            [at],
            self.talking,
            clock_ms,
            lambda beacon, place: self.found.append((beacon, place)),
            self.said.append,
        )


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONG_S):
        while not holds():
            await asyncio.sleep(0.01)


def test_nodes_of_one_mission_hear_each_other_and_no_others() -> None:
    async def listen() -> None:
        one, two, stranger = Speaker(1), Speaker(2), Speaker(3, b"another mission")
        for speaker in (one, two, stranger):
            speaker.beacons.open()
        try:
            await until(lambda: len(one.found) > 2 and len(two.found) > 2)
        finally:
            for speaker in (one, two, stranger):
                speaker.beacons.close()
        assert {(beacon.node, place) for beacon, place in one.found} == {(2, two.place)}
        assert {(beacon.node, place) for beacon, place in two.found} == {(1, one.place)}
        assert stranger.found == []
        assert one.said == two.said == stranger.said == []

    asyncio.run(listen())


def test_a_beacon_goes_one_hop() -> None:
    async def listen() -> None:
        heard = open_listener(LOOPBACK, interface_index(LOOPBACK))
        heard.setsockopt(socket.IPPROTO_IP, _IP_RECVTTL, 1)
        heard.setblocking(True)
        heard.settimeout(LONG_S)
        speaker = Speaker(1)
        speaker.beacons.open()
        try:
            data, [(_, kind, value)], _, place = heard.recvmsg(2_048, 64)
        finally:
            speaker.beacons.close()
            heard.close()
        assert (kind, struct.unpack("i", value)) == (socket.IP_TTL, (1,))
        assert (len(data), place) == (29, speaker.place)

    asyncio.run(listen())


@pytest.mark.parametrize(
    ("interface", "group", "code", "message"),
    [
        ("wlan77", "239.255.68.70", "D358", "this machine has lo"),
        ("lo", BROADCAST, "D359", "lo does not support broadcast"),
    ],
)
def test_what_cannot_be_used_is_refused_and_leaves_nothing_open(
    interface: str, group: str, code: str, message: str
) -> None:
    async def begin() -> None:
        speaker = Speaker(1, at=BeaconInterface(interface, group, PORT))
        with pytest.raises(InterfaceError, match=message) as refused:
            speaker.beacons.open()
        assert (refused.value.code, refused.value.interface) == (code, interface)
        assert speaker.talking.fileno() == -1

    before = len(list(Path("/proc/self/fd").iterdir()))
    asyncio.run(begin())
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_missing_permission_to_bind_to_a_device_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forbidden(socket.socket):
        def bind(self, address: object) -> None:
            raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("dens.node.links.beacons.socket.socket", Forbidden)
    with pytest.raises(InterfaceError, match="Operation not permitted") as refused:
        open_listener(LOOPBACK, 1)
    assert refused.value.code == "D360"


def test_interface_that_disappears_is_reported_and_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    is_there = True
    known = socket.if_nametoindex

    def index(name: str) -> int:
        if not is_there:
            raise OSError(19, "No such device")
        return known(name)

    monkeypatch.setattr("dens.node.links.beacons.socket.if_nametoindex", index)

    async def listen() -> None:
        nonlocal is_there
        one, two = Speaker(1), Speaker(2)
        one.beacons.open()
        two.beacons.open()
        try:
            await until(lambda: len(two.found) > 0)
            is_there = False
            await until(lambda: len(one.said) > 0)
            await asyncio.sleep(0.3)
            before = len(two.found)
            is_there = True
            await until(lambda: len(two.found) > before)
        finally:
            one.beacons.close()
            two.beacons.close()
        assert len(one.said) == 1, "it is reported once"
        assert "unknown interface" in one.said[0]

    asyncio.run(listen())
