"""Datagrams over UDP: one socket, and the neighbours who are heard on it."""

import asyncio
import socket
from collections.abc import Callable
from typing import Final, cast

from dens.node.links.neighbours import MOST_LEARNT, Address, Heard, Neighbours, Rival, spoken
from dens.node.links.rates import Rates
from dens.node.links.runtime import Runtime
from dens.overlay.events import ContactClosed, ContactOpened, NumberShared

_LOOK_S: Final = 1.0
_MOST_STRANGERS: Final = 16


class UdpLink(asyncio.DatagramProtocol):
    """The UDP socket of one node. Listed peers are greeted at once, others when they are heard."""

    def __init__(
        self, runtime: Runtime, neighbours: Neighbours, listed: list[int], complain: Callable[[str], None]
    ) -> None:
        """`complain` is told of strangers who are not heard, and why, at a bounded rate."""
        self._runtime = runtime
        self._neighbours = neighbours
        self._listed = listed
        self._complain = complain
        self._strangers: Rates[str] = Rates(_MOST_STRANGERS)
        self._advised: set[Address] = set()
        self._transport: asyncio.DatagramTransport | None = None
        self._looking: asyncio.TimerHandle | None = None

    @property
    def address(self) -> Address:
        """Return where the socket is; its port was chosen by the system where 0 was asked for."""
        assert self._transport is not None
        host, port, *_ = self._transport.get_extra_info("sockname")
        return host, port

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin: the socket is there."""
        self._transport = cast(asyncio.DatagramTransport, transport)
        for peer in self._listed:
            self._runtime.contact_opened(peer, self)
        self._look_later()

    def connection_lost(self, error: Exception | None) -> None:
        """End: the socket was closed."""
        if self._looking is not None:
            self._looking.cancel()
        self._transport = None

    def error_received(self, error: Exception) -> None:
        """Nobody is there, or the datagram is too long: it is lost, as on any link."""

    def datagram_received(self, data: bytes, address: Address) -> None:
        """Take a datagram from whoever it is."""
        now_ms = self._runtime.now_ms()
        place = address[:2]
        heard = self._neighbours.node_at(data, place, now_ms)
        self._tell_rival(heard.rival, place, now_ms)
        self._tell_contacts(now_ms)
        if heard.node is None:
            said = f"not heard: {spoken(place)}; {heard.why}"
            if self._strangers.is_first(said, now_ms):
                self._complain(said + self._advice(heard, place))
            return
        if heard.is_new:
            self._runtime.contact_opened(heard.node, self)
        if self._runtime.receive(data, heard.node):
            rival = self._neighbours.was_heard(heard.node, data, place, now_ms)
            self._tell_rival(rival, place, now_ms)
        self._tell_contacts(now_ms)
        self._runtime.settle()

    def _advice(self, heard: Heard, place: Address) -> str:
        """Return what to do about a stranger, once for each place."""
        if not heard.advice or place in self._advised or len(self._advised) == MOST_LEARNT:
            return ""
        self._advised.add(place)
        return f"; {heard.advice}"

    def _tell_rival(self, rival: Rival | None, place: Address, now_ms: int) -> None:
        if rival is not None:
            places = spoken(rival.place), spoken(place)
            self._runtime.tell(NumberShared(now_ms, rival.node, places))

    def _tell_contacts(self, now_ms: int) -> None:
        """Report contacts that opened or closed. The engine learns of those that closed."""
        for node, place, reason in self._neighbours.contact_changes():
            if reason is not None:
                self._runtime.contact_lost(node)
            self._runtime.tell(
                ContactOpened(now_ms, node, spoken(place))
                if reason is None
                else ContactClosed(now_ms, node, spoken(place), reason)
            )

    def _say_strangers(self, now_ms: int) -> None:
        for said, count, within_ms in self._strangers.due(now_ms):
            often = f"{count:,} datagrams more within {within_ms / 1000:,.0f} s"
            self._complain(f"not heard: {often} from other places" if said is None else f"{said}: {often}")

    def send(self, peer: int, data: bytes) -> None:
        """Send a datagram to where the peer was heard last."""
        address = self._neighbours.address_of(peer)
        if self._transport is not None and address is not None:
            self._transport.sendto(data, address)

    def discovered(self, node: int, place: Address, period_ms: int) -> None:
        """Learn from a beacon who is there, and greet it if it is to be greeted."""
        now_ms = self._runtime.now_ms()
        if self._neighbours.discovered(node, place, period_ms, now_ms):
            self._tell_contacts(now_ms)
            self._runtime.contact_opened(node, self)
            self._runtime.settle()

    def another_handle(self) -> socket.socket:
        """Return the socket itself once more, for what a transport cannot send; it has to be closed."""
        assert self._transport is not None
        found: socket.socket = self._transport.get_extra_info("socket").dup()
        return found

    def close(self) -> None:
        """Let the socket go."""
        if self._transport is not None:
            self._transport.close()

    def _look_later(self) -> None:
        self._looking = asyncio.get_running_loop().call_later(_LOOK_S, self._look)

    def _look(self) -> None:
        now_ms = self._runtime.now_ms()
        self._say_strangers(now_ms)
        greeted, gone = self._neighbours.silent(now_ms)
        self._tell_contacts(now_ms)
        for peer in greeted:
            self._runtime.contact_opened(peer, self)
        for peer in gone:
            self._runtime.contact_lost(peer)
        if greeted or gone:
            self._runtime.settle()
        self._look_later()
