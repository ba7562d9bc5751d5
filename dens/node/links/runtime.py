"""One protocol machine in real time: links bring datagrams, the loop calls timers, events are handed on.

The machine is driven as dens/overlay/session/protocol.py says. Whatever is raised on the way (a disk that
is full, a defect) ends the run and is raised by `run`; a link that fails is the link's own business,
because a link may lose anything.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from dens.overlay.events import Event
from dens.overlay.session.protocol import ProtocolEngine

TOLD_WITHIN_MS: Final = 1_000
"""So long after it something that ended is told at the latest. What ends in the meantime is told with it, so
that a node which holds much is not woken for each."""


class Link(Protocol):
    """A way to one or more peers. It may lose what it is given."""

    def send(self, peer: int, data: bytes) -> None:
        """Send a datagram to a peer, or lose it."""
        ...


class Runtime:
    """Drives one machine until it is told to stop."""

    def __init__(
        self, machine: ProtocolEngine, clock: Callable[[], int], hear: Callable[[Event], None]
    ) -> None:
        """`clock` tells milliseconds that go on over a restart; `hear` is given every event, once."""
        self._machine = machine
        self._clock = clock
        self._hear = hear
        self._ways: dict[int, Link] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def now_ms(self) -> int:
        """Return the node's local time."""
        return self._clock()

    def contact_opened(self, peer: int, link: Link, *, is_trusted: bool = False) -> None:
        """Learn that a peer is reached over this link from now on."""
        self._ways[peer] = link
        self._machine.contact_opened(peer, self._clock(), is_trusted=is_trusted)

    def contact_lost(self, peer: int) -> None:
        """Learn that a peer is not reached any more."""
        self._ways.pop(peer, None)
        self._machine.contact_lost(peer, self._clock())

    def receive(self, data: bytes, peer: int) -> bool:
        """Take a datagram from a link; return whether it is the peer's own and new. Bytes raise nothing; a
        defect of a language ends the run.
        """
        try:
            return self._machine.receive(data, peer, self._clock())
        except Exception as error:
            self.fail(error)
            return False

    def tell(self, event: Event) -> None:
        """Hand on what a link found out by itself."""
        try:
            self._hear(event)
        except Exception as error:
            self.fail(error)

    def settle(self) -> None:
        """Let the machine say and do what is due; it is called after any of the others."""
        if self._ended.done():
            return
        try:
            self._settle()
        except Exception as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Let `run` raise this."""
        if not self._ended.done():
            self._ended.set_exception(error)

    def _settle(self) -> None:
        machine, now_ms = self._machine, self._clock()
        due_ms = self._due_ms()
        if due_ms is not None and due_ms <= now_ms:
            machine.timer_due(now_ms)
        for datagram in machine.datagrams_to_send(now_ms):
            link = self._ways.get(datagram.peer)
            if link is not None:
                link.send(datagram.peer, datagram.data)
        while (event := machine.next_event()) is not None:
            self._hear(event)
        self._arm(self._due_ms(), now_ms)

    def _due_ms(self) -> int | None:
        timer_ms, end_ms = self._machine.next_timer_ms(), self._machine.next_expiry_ms()
        if end_ms is None:
            return timer_ms
        told_ms = end_ms + TOLD_WITHIN_MS
        return told_ms if timer_ms is None else min(timer_ms, told_ms)

    def _arm(self, due_ms: int | None, now_ms: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due_ms is not None:
            wait_s = max(1, due_ms - now_ms) / 1000
            self._timer = asyncio.get_running_loop().call_later(wait_s, self.settle)

    def stop(self) -> None:
        """Let `run` return."""
        if not self._ended.done():
            self._ended.set_result(None)

    async def run(self) -> None:
        """Drive the machine until `stop` is called; what went wrong meanwhile is raised here."""
        self.settle()
        try:
            await self._ended
        finally:
            if self._timer is not None:
                self._timer.cancel()
