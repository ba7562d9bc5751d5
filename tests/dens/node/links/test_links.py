"""Real sockets and a real terminal, in one loop: the engines meet over them as they do in the emulator."""

import asyncio
import os
import pty
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from dens.node.links.neighbours import Address, Neighbours
from dens.node.links.runtime import Runtime
from dens.node.links.serial import PROMPT, RESTART, SerialLink, frame
from dens.node.links.serial_port import SerialPort
from dens.node.links.udp import UdpLink
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.errors import StoreError
from dens.overlay.events import (
    DatagramRefused,
    Event,
    MessageAcknowledged,
    MessageStored,
    NotificationDelivered,
)
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.store import Space
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.envelope import UPDATE_ADVICE
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    subscription,
)

MEDIATOR, ASKER, BOARD = 1, 2, 7
KEY = b"mission"
HOUR_Q = 95
LONG_S = 120.0
"""Nothing here takes a second; a machine that is busy may take a minute."""


def clock_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def mediator(store: MemoryStore, key: bytes | None = KEY) -> DensNode:
    return DensNode(
        MEDIATOR, Mission(7, {LANGUAGE: TOPICS}, key=key), store, clock_ms(), directory=TopicDirectory()
    )


class Living:
    """A driven engine with the events it reported."""

    def __init__(self, engine: Engine) -> None:
        self.events: list[Event] = []
        self.complaints: list[str] = []
        self.runtime = Runtime(engine, clock_ms, self.events.append)
        self.run = asyncio.create_task(self.runtime.run())

    async def on_udp(
        self, authenticator: Authenticator, listed: dict[int, Address], silence_ms: int = 30_000
    ) -> UdpLink:
        neighbours = Neighbours(authenticator, listed, clock_ms(), accepts_others=True, silence_ms=silence_ms)
        _, link = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: UdpLink(self.runtime, neighbours, list(listed), self.complaints.append),
            local_addr=("127.0.0.1", 0),
        )
        self.runtime.settle()
        return link

    async def end(self) -> None:
        self.runtime.stop()
        await self.run


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONG_S):
        while not holds():
            await asyncio.sleep(0.01)


def delivered(living: Living) -> list[NotificationDelivered]:
    return [event for event in living.events if isinstance(event, NotificationDelivered)]


def test_three_engines_meet_over_loopback_and_a_notification_travels() -> None:
    async def scene() -> None:
        node = Living(mediator(MemoryStore()))
        socket = await node.on_udp(Authenticator(MEDIATOR, KEY), {})
        end = SubscriberEndpoint(ASKER, Mission(7, key=KEY), MemoryStore(), clock_ms())
        end.subscribe(subscription(5, 0, HOUR_Q, 3, 1), LANGUAGE, clock_ms())
        sensor = PublisherEndpoint(
            BOARD, Mission(7, key=KEY), MemoryStore(), clock_ms(), filter_host=TopicHost()
        )
        asker, board = Living(end), Living(sensor)
        links = [
            await asker.on_udp(Authenticator(ASKER, KEY), {MEDIATOR: socket.address}),
            await board.on_udp(Authenticator(BOARD, KEY), {MEDIATOR: socket.address}),
        ]
        await until(lambda: any(isinstance(event, MessageStored) for event in node.events))
        made = sensor.publish(LANGUAGE, b"\x03\x05", HOUR_Q, clock_ms() + 1)
        board.runtime.settle()
        await until(lambda: bool(delivered(asker)))
        assert [event.item.id for event in delivered(asker)] == [made]
        for living in (node, asker, board):
            await living.end()
        for link in (socket, *links):
            link.close()

    asyncio.run(scene())


def test_a_peer_that_lost_its_store_is_found_again_after_some_silence() -> None:
    """Its session numbers begin again, below those it used: an engine takes its hellos for late ones."""

    async def scene() -> None:
        node = Living(mediator(MemoryStore(), None))
        other = DensNode(
            9, Mission(7, {LANGUAGE: TOPICS}), MemoryStore(), clock_ms(), directory=TopicDirectory()
        )
        for _ in range(5):
            other.contact_opened(MEDIATOR, clock_ms())
        old = Living(other)
        at_old = await old.on_udp(Authenticator(9), {})
        port = at_old.address
        socket = await node.on_udp(Authenticator(MEDIATOR), {9: port}, 3_000)
        end = SubscriberEndpoint(ASKER, Mission(7), MemoryStore(), clock_ms())
        end.subscribe(subscription(5, 0, HOUR_Q, 3, 1), LANGUAGE, clock_ms())
        asker = Living(end)
        at_asker = await asker.on_udp(Authenticator(ASKER), {MEDIATOR: socket.address})
        await until(lambda: any(isinstance(event, MessageAcknowledged) for event in node.events))
        await old.end()
        at_old.close()
        await until(lambda: at_old._transport is None)
        empty = DensNode(
            9, Mission(7, {LANGUAGE: TOPICS}), MemoryStore(), clock_ms(), directory=TopicDirectory()
        )
        new = Living(empty)
        neighbours = Neighbours(
            Authenticator(9), {MEDIATOR: socket.address}, clock_ms(), accepts_others=True, silence_ms=60_000
        )
        _, at_new = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: UdpLink(new.runtime, neighbours, [MEDIATOR], new.complaints.append), local_addr=port
        )
        new.runtime.settle()
        await until(lambda: empty.subscription_count == 1)
        for living in (node, asker, new):
            await living.end()
        assert empty.subscription_count == 1
        for link in (socket, at_asker, at_new):
            link.close()

    asyncio.run(scene())


def test_restarted_node_finds_idle_endpoint_again() -> None:
    """The node knows no peer then: it learns the address of an idle endpoint from its next HELLO."""

    async def scene() -> None:
        store = MemoryStore()
        node = Living(mediator(store))
        socket = await node.on_udp(Authenticator(MEDIATOR, KEY), {})
        at_node = socket.address
        end = SubscriberEndpoint(ASKER, Mission(7, key=KEY), MemoryStore(), clock_ms())
        end.subscribe(subscription(5, 0, HOUR_Q, 3, 1), LANGUAGE, clock_ms())
        asker = Living(end)
        at_asker = await asker.on_udp(Authenticator(ASKER, KEY), {MEDIATOR: at_node}, 1_000)
        await until(lambda: any(isinstance(event, MessageAcknowledged) for event in asker.events))
        await node.end()
        socket.close()
        await until(lambda: socket._transport is None)

        again = Living(mediator(store.crash()))
        neighbours = Neighbours(
            Authenticator(MEDIATOR, KEY), {}, clock_ms(), accepts_others=True, silence_ms=30_000
        )
        _, socket = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: UdpLink(again.runtime, neighbours, [], again.complaints.append), local_addr=at_node
        )
        await until(lambda: neighbours.address_of(ASKER) is not None)
        assert neighbours.address_of(ASKER) == at_asker.address
        for living in (again, asker):
            await living.end()
        for link in (socket, at_asker):
            link.close()

    asyncio.run(scene())


def test_stranger_is_reported_once_per_cause_and_ignored() -> None:
    async def scene() -> None:
        node = Living(mediator(MemoryStore()))
        socket = await node.on_udp(Authenticator(MEDIATOR, KEY), {})
        sensor = Living(
            PublisherEndpoint(BOARD, Mission(7), MemoryStore(), clock_ms(), filter_host=TopicHost())
        )
        link = await sensor.on_udp(Authenticator(BOARD), {MEDIATOR: socket.address})
        await until(lambda: bool(node.complaints))
        link.send(MEDIATOR, b"noise")
        link.send(MEDIATOR, b"noise")
        await asyncio.sleep(0.1)
        at = f"ignored {link.address[0]}:{link.address[1]}: "
        assert node.complaints == [
            at + "its hello has no tag, and this node has a mission key",
            at + "its datagrams are not DENS messages",
        ]
        assert node.events == []
        for living in (node, sensor):
            await living.end()
        for one in (socket, link):
            one.close()

    asyncio.run(scene())


def test_advice_for_an_older_version_is_logged_once_per_place() -> None:
    async def scene() -> None:
        node = Living(mediator(MemoryStore()))
        socket = await node.on_udp(Authenticator(MEDIATOR, KEY), {})
        sensor = Living(
            PublisherEndpoint(BOARD, Mission(7), MemoryStore(), clock_ms(), filter_host=TopicHost())
        )
        links = [await sensor.on_udp(Authenticator(BOARD), {MEDIATOR: socket.address}) for _ in range(2)]
        old = [bytes((version << 4, 1)) + bytes(25) for version in (2, 3, 3, 3)]
        for link in links:
            for data in old:
                link.send(MEDIATOR, data)
        await until(lambda: sum("uses version" in said for said in node.complaints) == 4)
        told = [said for said in node.complaints if "uses version" in said]
        for link in links:
            at = f"ignored {link.address[0]}:{link.address[1]}: "
            assert [said for said in told if said.startswith(at)] == [
                f"{at}it uses version 2 of the protocol, and this node 4; {UPDATE_ADVICE}",
                f"{at}it uses version 3 of the protocol, and this node 4",
            ]
        assert node.events == []
        for living in (node, sensor):
            await living.end()
        for one in (socket, *links):
            one.close()

    asyncio.run(scene())


class FailingStore(MemoryStore):
    """A disk that is full."""

    def commit(self) -> None:
        raise StoreError("the disk is full")


def test_a_store_that_fails_ends_the_run_with_its_error() -> None:
    async def scene() -> None:
        end = SubscriberEndpoint(ASKER, Mission(7), FailingStore(), clock_ms())
        end.subscribe(subscription(5, 0, HOUR_Q, 3, 1), LANGUAGE, clock_ms())
        living = Living(end)
        with pytest.raises(StoreError, match="the disk is full"):
            await asyncio.wait_for(living.run, LONG_S)

    asyncio.run(scene())


class BoardOnATerminal:
    """A publisher without a key at the master's end of a pseudo-terminal."""

    def __init__(self, sensor: PublisherEndpoint) -> None:
        self.sensor = sensor
        self.link = SerialLink(burst_bytes=4096, pause_ms=0)
        self.master, self.slave = pty.openpty()
        os.set_blocking(self.master, False)
        self.path = Path(os.ttyname(self.slave))
        self.is_alive = True

    def listen(self) -> bytes:
        try:
            return os.read(self.master, 65_536)
        except BlockingIOError:
            return b""

    async def live(self) -> None:
        self.sensor.contact_opened(MEDIATOR, clock_ms())
        while self.is_alive:
            for datagram in self.link.receive(self.listen()):
                self.sensor.receive(datagram, MEDIATOR, clock_ms())
            for out in self.sensor.datagrams_to_send(clock_ms()):
                self.link.send(out.data)
            burst = self.link.bytes_to_write(clock_ms())
            if burst:
                os.write(self.master, burst)
            await asyncio.sleep(0.01)

    def unplug(self) -> None:
        self.is_alive = False
        os.close(self.slave)
        os.close(self.master)


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_board_without_a_key_is_heard_on_a_trusted_port_only_and_marked(is_trusted: bool) -> None:
    async def scene() -> None:
        store = MemoryStore()
        node = Living(mediator(store))
        sensor = PublisherEndpoint(BOARD, Mission(7), MemoryStore(), clock_ms(), filter_host=TopicHost())
        made = sensor.publish(LANGUAGE, b"\x03\x05", HOUR_Q, clock_ms())
        board = BoardOnATerminal(sensor)
        port = SerialPort(
            node.runtime, board.path, BOARD, node.complaints.append, is_trusted=is_trusted, baud=115200
        )
        kept_open = asyncio.create_task(port.keep_open())
        at_work = asyncio.create_task(board.live())
        if is_trusted:
            await until(lambda: any(isinstance(event, MessageStored) for event in node.events))
            stored = [event for event in node.events if isinstance(event, MessageStored)]
            assert [(event.item.id, event.reason) for event in stored] == [(made, "unverified")]
            await until(lambda: store.holds(Space.UNVERIFIED, made))
        else:
            await until(lambda: any(isinstance(event, DatagramRefused) for event in node.events))
            assert {event.reason for event in node.events if isinstance(event, DatagramRefused)} == {"no_tag"}
            assert not store.holds(Space.ITEM, made)
        board.is_alive = False
        await at_work
        board.unplug()
        await until(lambda: any("disappeared" in said for said in node.complaints))
        kept_open.cancel()
        await node.end()

    asyncio.run(scene())


def test_board_at_its_prompt_is_restarted_and_invalid_port_is_reported() -> None:
    async def scene() -> None:
        node = Living(mediator(MemoryStore()))
        board = BoardOnATerminal(
            PublisherEndpoint(BOARD, Mission(7), MemoryStore(), clock_ms(), filter_host=TopicHost())
        )
        ports = [
            SerialPort(node.runtime, path, BOARD, node.complaints.append, is_trusted=True, baud=115200)
            for path in (board.path, Path("/dev/null"), Path("/nowhere/tty"))
        ]
        tasks = [asyncio.create_task(port.keep_open()) for port in ports]
        await until(lambda: len(node.complaints) == 2)
        assert any("/dev/null cannot be used: it is not a serial port" in said for said in node.complaints)
        assert any("/nowhere/tty cannot be used: No such file" in said for said in node.complaints)
        os.write(board.master, b"MicroPython v1.9.2\r\n" + PROMPT[:2])
        await asyncio.sleep(0.05)
        os.write(board.master, PROMPT[2:])
        await until(lambda: board.listen() == RESTART)
        for task in tasks:
            task.cancel()
        await node.end()
        board.unplug()

    asyncio.run(scene())


def test_garbage_on_a_cable_is_refused_and_the_board_behind_it_is_heard() -> None:
    async def scene() -> None:
        node = Living(mediator(MemoryStore()))
        sensor = PublisherEndpoint(BOARD, Mission(7), MemoryStore(), clock_ms(), filter_host=TopicHost())
        made = sensor.publish(LANGUAGE, b"\x03\x05", HOUR_Q, clock_ms())
        board = BoardOnATerminal(sensor)
        port = SerialPort(
            node.runtime, board.path, BOARD, node.complaints.append, is_trusted=True, baud=115200
        )
        kept_open = asyncio.create_task(port.keep_open())
        await asyncio.sleep(0.1)
        chance = Random(1)
        for _ in range(100):
            noise = chance.randbytes(chance.randrange(1, 2_000)).replace(b">", b"-")
            framed = frame(chance.randbytes(chance.randrange(60))) if chance.random() < 0.5 else b""
            for piece in (noise, framed):
                while piece:
                    try:
                        piece = piece[os.write(board.master, piece) :]
                    except BlockingIOError:
                        await asyncio.sleep(0.01)
            await asyncio.sleep(0)
        at_work = asyncio.create_task(board.live())
        await until(lambda: any(isinstance(event, MessageStored) for event in node.events))
        assert [event.item.id for event in node.events if isinstance(event, MessageStored)] == [made]
        assert any(isinstance(event, DatagramRefused) for event in node.events), "frames that are no messages"
        board.is_alive = False
        await at_work
        kept_open.cancel()
        await node.end()
        board.unplug()

    asyncio.run(scene())
