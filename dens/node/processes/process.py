"""How a node's process lives: its links are opened, it is driven until it is told to end, all is committed.

SIGTERM ends it with 0, Ctrl-C with 130, and so does its own work when it is done. SIGHUP does not end it.
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
from dens.node.links.neighbours import Address, Neighbours, spoken
from dens.node.links.runtime import Runtime
from dens.node.links.serial_port import SerialPort
from dens.node.links.udp import UdpLink
from dens.node.output.stdout import OutputError, say
from dens.node.processes.addresses import Links
from dens.node.processes.finding import Finding
from dens.node.storage.sqlite import SqliteStore
from dens.overlay.errors import MovedStoreError, StoreError
from dens.overlay.events import Event
from dens.overlay.session.protocol import ProtocolEngine
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.codes import Role

_LOOK_S: Final = 1.0
_HANGUP: Final = "SIGHUP: nothing is reloaded and this continues; SIGTERM ends it"
Work = Callable[[Runtime], Coroutine[Any, Any, int]]
"""What an end does while it is driven; when it returns an exit code, the process ends with it."""


@dataclass(frozen=True, slots=True)
class NodeProcess:
    """What a process lives with: its engine, and what stands around it."""

    engine: ProtocolEngine
    store: SqliteStore
    authenticator: Authenticator
    links: Links
    clock: Callable[[], int]
    hear: Callable[[Event], None]
    """Is given every event, once."""
    begun: Callable[[Address | None], None] | None = None
    """Is told, when the links are open, under which address."""
    look: Callable[[int], None] | None = None
    """Is called every second with the time."""
    work: Work | None = None
    finding: Finding | None = None
    """How it finds others, if it does."""


def live(life: NodeProcess) -> int:
    """Drive an engine until it is told to end; return the exit code. The store is committed and closed.

    A store that can no longer be written, or is not where it was, ends the process with 4; what was
    acknowledged is in it.
    """
    try:
        code = asyncio.run(_driven(life))
        life.store.commit()
        if code == exits.INTERRUPTED:
            say("interrupted; everything is committed")
        return code
    except MovedStoreError as error:
        advice = "nothing was acknowledged since that was noticed; put it back, and start anew"
        say(str(Problem(str(life.store.path), 0, 0, "error", "D371", f"{error}; {advice}")))
        return exits.ABORTED
    except StoreError as error:
        say(str(error))
        return exits.ABORTED
    except OutputError as error:
        life.store.commit()
        say(f"{error}; everything is committed, and what could not be shown is shown next time")
        return exits.FINE if error.is_reader_gone else exits.BAD_INPUT
    finally:
        life.store.close()


async def _driven(life: NodeProcess) -> int:
    runtime = Runtime(life.engine, life.clock, life.hear)
    links, codes = life.links, list[int]()

    def end(code: int) -> None:
        codes.append(code)
        runtime.stop()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, end, exits.FINE)
    loop.add_signal_handler(signal.SIGINT, end, exits.INTERRUPTED)
    loop.add_signal_handler(signal.SIGHUP, say, _HANGUP)
    socket = None if links.address is None else await _udp(runtime, life.authenticator, links, links.address)
    beacons = None if socket is None or life.finding is None else _beacons(life.finding, socket, life.clock)
    tasks = [
        asyncio.create_task(
            SerialPort(
                runtime, Path(one.port), one.node, say, is_trusted=one.trusted, baud=one.baud
            ).keep_open()
        )
        for one in links.serial
    ]
    tasks.append(asyncio.create_task(_looked_after(life, runtime)))
    if life.work is not None:
        tasks.append(asyncio.create_task(_worked(life.work, runtime, end)))
    if life.begun is not None:
        life.begun(None if socket is None else socket.address)
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


async def _looked_after(life: NodeProcess, runtime: Runtime) -> None:
    """See every second whether the store is still there, also where nothing is to be written."""
    while True:
        await asyncio.sleep(_LOOK_S)
        try:
            life.store.check_place()
            if life.look is not None:
                life.look(life.clock())
        except Exception as error:
            runtime.fail(error)
            return


async def _worked(work: Work, runtime: Runtime, end: Callable[[int], None]) -> None:
    """Do the work, and end the process with its code; what it raises is raised where the process ends."""
    try:
        end(await work(runtime))
    except asyncio.CancelledError:
        raise
    except Exception as error:
        runtime.fail(error)


def _beacons(finding: Finding, link: UdpLink, clock: Callable[[], int]) -> Beacons:
    """Begin to be found, and to find DENS nodes; an interface that cannot be used is refused."""

    def found(beacon: Beacon, place: Address) -> None:
        if beacon.role == Role.MEDIATOR:
            link.discovered(beacon.node, place, beacon.period_ms)

    beacons = Beacons(finding.discovery, finding.interfaces, link.another_handle(), clock, found, say)
    try:
        beacons.open()
    except InterfaceError as error:
        link.close()
        raise finding.refusal(error) from None
    return beacons


async def _udp(runtime: Runtime, authenticator: Authenticator, links: Links, address: Address) -> UdpLink:
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
            f"{spoken(address)} cannot be used: {error.strerror}; is another node running there?"
        ) from None
    return link
