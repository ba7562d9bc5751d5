"""How a node's process lives: its links are opened, it is driven until it is told to end, all is committed.

SIGTERM ends it with 0, Ctrl-C with 130, and so does its own work when it is done.
"""

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dens.drivers.neighbours import Address, Neighbours, spoken
from dens.drivers.runtime import Runtime
from dens.drivers.serial_port import SerialPort
from dens.drivers.udp import UdpLink
from dens.engine import Engine
from dens.errors import StoreError
from dens.events import Event
from dens.seal import Sealer
from dens.stores.sqlite import SqliteStore
from studio import exits
from studio.failures import Refusal
from studio.node.settings import SerialSettings
from studio.node.telling import NETWORK_EPOCH_MS

Work = Callable[[Runtime], Coroutine[Any, Any, int]]
"""What an end does while it is driven; when it returns an exit code, the process ends with it."""
SOON_MS: Final = 3_000
"""An end greets its node anew after so much silence: a node that was started again knows nobody, and has to
be told where its ends are before it can give them anything."""


@dataclass(frozen=True, slots=True)
class Links:
    """Where a process listens and whom it talks to."""

    address: Address | None
    listed: Mapping[int, Address]
    accepts_others: bool = False
    silence_ms: int = 30_000
    serial: Sequence[SerialSettings] = ()


def real_clock() -> Callable[[], int]:
    """Return a clock in milliseconds since the network epoch: the wall's at this moment, and from then on one
    that never jumps.
    """
    begin_ms = time.time_ns() // 1_000_000 - NETWORK_EPOCH_MS - time.monotonic_ns() // 1_000_000
    return lambda: begin_ms + time.monotonic_ns() // 1_000_000


def live(
    engine: Engine,
    store: SqliteStore,
    sealer: Sealer,
    links: Links,
    clock: Callable[[], int],
    hear: Callable[[Event], None],
    say: Callable[[str], None],
    begun: Callable[[Address | None], None],
    work: Work | None = None,
) -> int:
    """Drive this engine until it is told to end; return the exit code. The store is committed and closed.

    A store that can no longer be written ends the process with 4; what was acknowledged is in it.
    """
    try:
        code = asyncio.run(_live(engine, sealer, links, clock, hear, say, begun, work))
        store.commit()
        if code == exits.INTERRUPTED:
            say("interrupted; everything is committed")
        return code
    except StoreError as error:
        say(str(error))
        return exits.ABORTED
    finally:
        store.close()


async def _live(
    engine: Engine,
    sealer: Sealer,
    links: Links,
    clock: Callable[[], int],
    hear: Callable[[Event], None],
    say: Callable[[str], None],
    begun: Callable[[Address | None], None],
    work: Work | None,
) -> int:
    runtime = Runtime(engine, clock, hear)
    codes: list[int] = []

    def end(code: int) -> None:
        codes.append(code)
        runtime.stop()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, end, exits.FINE)
    loop.add_signal_handler(signal.SIGINT, end, exits.INTERRUPTED)
    socket = None if links.address is None else await _udp(runtime, sealer, links, links.address, say)
    tasks = [
        asyncio.create_task(
            SerialPort(
                runtime, Path(one.port), one.node, say, is_trusted=one.trusted, baud=one.baud
            ).keep_open()
        )
        for one in links.serial
    ]
    if work is not None:
        tasks.append(asyncio.create_task(_worked(work, runtime, end)))
    begun(None if socket is None else socket.address)
    try:
        await runtime.run()
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        if socket is not None:
            socket.close()
    return codes[0]


async def _worked(work: Work, runtime: Runtime, end: Callable[[int], None]) -> None:
    """Do the work, and end the process with its code; what it raises is raised where the process ends."""
    try:
        end(await work(runtime))
    except asyncio.CancelledError:
        raise
    except Exception as error:
        runtime.fail(error)


async def _udp(
    runtime: Runtime, sealer: Sealer, links: Links, address: Address, say: Callable[[str], None]
) -> UdpLink:
    neighbours = Neighbours(
        sealer,
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
