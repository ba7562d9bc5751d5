"""The process of a node or endpoint: opens links, drives the engine until it is stopped, commits the store.

Exit code 0 after SIGTERM, 130 after Ctrl-C, or the code of the process's own work. SIGHUP is ignored.
"""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dens.config import exit_codes as exits
from dens.config.problems import Problem
from dens.config.refusal import Refusal
from dens.node.links.beacons import Beacons, InterfaceError
from dens.node.links.discovery import Beacon
from dens.node.links.neighbours import Address, Neighbours, format_address
from dens.node.links.runtime import Runtime
from dens.node.links.serial_port import SerialPort
from dens.node.links.udp import UdpLink
from dens.node.output.stdout import OutputError, say
from dens.node.processes.addresses import Links
from dens.node.processes.discovery_setup import DiscoverySetup
from dens.node.storage.sqlite import SqliteStore
from dens.overlay.errors import MovedStoreError, StoreError
from dens.overlay.events import Event
from dens.overlay.session.protocol import ProtocolEngine
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.codes import Role

_CHECK_S: Final = 1.0
_HANGUP: Final = "SIGHUP: nothing is reloaded and this continues; SIGTERM ends it"
Work = Callable[[Runtime], Coroutine[Any, Any, int]]
"""The task of an endpoint. The process ends with the exit code that it returns."""


@dataclass(frozen=True, slots=True)
class NodeProcess:
    """An engine with its store, links and callbacks."""

    engine: ProtocolEngine
    store: SqliteStore
    authenticator: Authenticator
    links: Links
    clock: Callable[[], int]
    on_event: Callable[[Event], None]
    """Is called once for every event."""
    on_ready: Callable[[Address | None], None] | None = None
    """Is called with the UDP address when the links are open."""
    each_second: Callable[[int], None] | None = None
    """Is called every second with the time in milliseconds."""
    work: Work | None = None
    discovery: DiscoverySetup | None = None


def run_process(process: NodeProcess) -> int:
    """Drive an engine until it is stopped; return the exit code. The store is committed and closed.

    A store that can no longer be written, or was moved, ends the process with 4. Everything acknowledged
    before is in it.
    """
    try:
        code = asyncio.run(_drive(process))
        process.store.commit()
        if code == exits.INTERRUPTED:
            say("interrupted; everything is committed")
        return code
    except MovedStoreError as error:
        advice = "nothing has been acknowledged since; put the file back and start again"
        say(str(Problem(str(process.store.path), 0, 0, "error", "D371", f"{error}; {advice}")))
        return exits.ABORTED
    except StoreError as error:
        say(str(error))
        return exits.ABORTED
    except OutputError as error:
        process.store.commit()
        say(f"{error}; everything is committed, and what could not be shown is shown next time")
        return exits.FINE if error.is_reader_gone else exits.BAD_INPUT
    finally:
        process.store.close()


async def _drive(process: NodeProcess) -> int:
    runtime = Runtime(process.engine, process.clock, process.on_event)
    links, codes = process.links, list[int]()

    def end(code: int) -> None:
        codes.append(code)
        runtime.stop()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, end, exits.FINE)
    loop.add_signal_handler(signal.SIGINT, end, exits.INTERRUPTED)
    loop.add_signal_handler(signal.SIGHUP, say, _HANGUP)
    socket = beacons = None
    if links.address is not None:
        socket = await _open_udp(runtime, process.authenticator, links, links.address)
        if process.discovery is not None:
            beacons = _open_beacons(process.discovery, socket, process.clock)
    ports = [
        SerialPort(
            runtime,
            Path(settings.port),
            settings.node,
            say,
            is_trusted=settings.trusted,
            baud=settings.baud,
        )
        for settings in links.serial
    ]
    tasks = [asyncio.create_task(port.keep_open()) for port in ports]
    tasks.append(asyncio.create_task(_check_each_second(process, runtime)))
    if process.work is not None:
        tasks.append(asyncio.create_task(_run_work(process.work, runtime, end)))
    if process.on_ready is not None:
        process.on_ready(None if socket is None else socket.address)
    try:
        await runtime.run()
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        if beacons is not None:
            beacons.close()
        if socket is not None:
            socket.close()
    return codes[0]


async def _check_each_second(process: NodeProcess, runtime: Runtime) -> None:
    """Notice a store that was moved or deleted, even if nothing is written."""
    while True:
        await asyncio.sleep(_CHECK_S)
        try:
            process.store.check_files()
            if process.each_second is not None:
                process.each_second(process.clock())
        except Exception as error:
            runtime.fail(error)
            return


async def _run_work(work: Work, runtime: Runtime, end: Callable[[int], None]) -> None:
    """Run the work and end the process with its code. An exception ends the process too."""
    try:
        end(await work(runtime))
    except asyncio.CancelledError:
        raise
    except Exception as error:
        runtime.fail(error)


def _open_beacons(setup: DiscoverySetup, link: UdpLink, clock: Callable[[], int]) -> Beacons:
    """Start discovery; an unusable interface raises `DocumentError`."""

    def on_beacon(beacon: Beacon, place: Address) -> None:
        if beacon.role == Role.MEDIATOR:
            link.discovered(beacon.node, place, beacon.period_ms)

    beacons = Beacons(setup.discovery, setup.interfaces, link.another_handle(), clock, on_beacon, say)
    try:
        beacons.open()
    except InterfaceError as error:
        link.close()
        raise setup.refusal(error) from None
    return beacons


async def _open_udp(
    runtime: Runtime, authenticator: Authenticator, links: Links, address: Address
) -> UdpLink:
    neighbours = Neighbours(
        authenticator,
        links.listed,
        runtime.now_ms(),
        accepts_others=links.accepts_others,
        silence_ms=links.silence_ms,
    )
    try:
        _, link = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: UdpLink(runtime, neighbours, list(links.listed), say), local_addr=address
        )
    except OSError as error:
        raise Refusal(
            f"{format_address(address)} cannot be used: {error.strerror}; is another node running there?"
        ) from None
    return link
