"""Drives one protocol engine in real time: passes datagrams and timers to it, and its events on.

dens/overlay/session/protocol.py describes how an engine is driven. An exception (a full disk, a defect) ends
the run and is raised by `run`. A link handles its own failures, because links may lose datagrams.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from dens.overlay.events import Event
from dens.overlay.session.protocol import ProtocolEngine

EXPIRY_DELAY_MS: Final = 1_000
"""Longest delay of an expiry event. Expiries in between are reported together, so that a node that holds many
messages is not woken for each."""


class Link(Protocol):
    """A link to one or more peers. It may lose datagrams."""

    def send(self, peer: int, data: bytes) -> None:
        """Send a datagram to a peer; it may be lost."""
        ...


class Runtime:
    """Drives one engine until `stop` is called."""

    def __init__(
        self, machine: ProtocolEngine, clock: Callable[[], int], on_event: Callable[[Event], None]
    ) -> None:
        """`clock` returns milliseconds that continue across restarts."""
        self._machine = machine
        self._clock = clock
        self._on_event = on_event
        self._links: dict[int, Link] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def now_ms(self) -> int:
        """Return the node's local time."""
        return self._clock()

    def contact_opened(self, peer: int, link: Link, *, is_trusted: bool = False) -> None:
        """Reach a peer over this link from now on."""
        self._links[peer] = link
        self._machine.contact_opened(peer, self._clock(), is_trusted=is_trusted)

    def contact_lost(self, peer: int) -> None:
        """Forget the link to a peer."""
        self._links.pop(peer, None)
        self._machine.contact_lost(peer, self._clock())

    def receive(self, data: bytes, peer: int) -> bool:
        """Process a datagram; return whether it verifies and is new. Invalid bytes never raise; a defect of a
        language ends the run.
        """
        try:
            return self._machine.receive(data, peer, self._clock())
        except Exception as error:
            self.fail(error)
            return False

    def report(self, event: Event) -> None:
        """Pass on an event of a link."""
        try:
            self._on_event(event)
        except Exception as error:
            self.fail(error)

    def settle(self) -> None:
        """Send and process what is due. Call it after any other method."""
        if self._ended.done():
            return
        try:
            self._settle()
        except Exception as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Make `run` raise this error."""
        if not self._ended.done():
            self._ended.set_exception(error)

    def _settle(self) -> None:
        machine, now_ms = self._machine, self._clock()
        due_ms = self._due_ms()
        if due_ms is not None and due_ms <= now_ms:
            machine.timer_due(now_ms)
        for datagram in machine.datagrams_to_send(now_ms):
            link = self._links.get(datagram.peer)
            if link is not None:
                link.send(datagram.peer, datagram.data)
        while (event := machine.next_event()) is not None:
            self._on_event(event)
        self._arm(self._due_ms(), now_ms)

    def _due_ms(self) -> int | None:
        timer_ms, end_ms = self._machine.next_timer_ms(), self._machine.next_expiry_ms()
        if end_ms is None:
            return timer_ms
        report_ms = end_ms + EXPIRY_DELAY_MS
        return report_ms if timer_ms is None else min(timer_ms, report_ms)

    def _arm(self, due_ms: int | None, now_ms: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due_ms is not None:
            wait_s = max(1, due_ms - now_ms) / 1000
            self._timer = asyncio.get_running_loop().call_later(wait_s, self.settle)

    def stop(self) -> None:
        """Make `run` return."""
        if not self._ended.done():
            self._ended.set_result(None)

    async def run(self) -> None:
        """Drive the engine until `stop` or `fail` is called."""
        self.settle()
        try:
            await self._ended
        finally:
            if self._timer is not None:
                self._timer.cancel()
