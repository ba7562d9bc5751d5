"""UDP link: one socket for all neighbours."""

import asyncio
import socket
from collections.abc import Callable
from typing import Final, cast

from dens.node.links.log_throttle import LogThrottle
from dens.node.links.neighbours import MOST_LEARNT, Address, Neighbours, Rival, Sender, format_address
from dens.node.links.runtime import Runtime
from dens.overlay.events import ContactClosed, ContactOpened, NumberShared

_CHECK_S: Final = 1.0
_MOST_STRANGERS: Final = 16
"""Senders of ignored datagrams that are reported separately."""


class UdpLink(asyncio.DatagramProtocol):
    """The UDP socket of one node. Listed peers are greeted at once, others when they greet."""

    def __init__(
        self, runtime: Runtime, neighbours: Neighbours, listed: list[int], complain: Callable[[str], None]
    ) -> None:
        """`complain` receives, throttled, which senders are ignored and why."""
        self._runtime = runtime
        self._neighbours = neighbours
        self._listed = listed
        self._complain = complain
        self._strangers: LogThrottle[str] = LogThrottle(_MOST_STRANGERS)
        self._advised: set[Address] = set()
        self._transport: asyncio.DatagramTransport | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def address(self) -> Address:
        """Return the address of the socket, with the port that the system chose if the file says 0."""
        assert self._transport is not None
        host, port, *_ = self._transport.get_extra_info("sockname")
        return host, port

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet listed peers when the socket is open."""
        self._transport = cast(asyncio.DatagramTransport, transport)
        for peer in self._listed:
            self._runtime.contact_opened(peer, self)
        self._check_later()

    def connection_lost(self, error: Exception | None) -> None:
        """Stop the timer when the socket was closed."""
        if self._timer is not None:
            self._timer.cancel()
        self._transport = None

    def error_received(self, error: Exception) -> None:
        """Ignore it: the datagram is lost (unreachable, or too long), as on any link."""

    def datagram_received(self, data: bytes, address: Address) -> None:
        """Process a datagram of any sender."""
        now_ms = self._runtime.now_ms()
        place = address[:2]
        sender = self._neighbours.sender_of(data, place, now_ms)
        self._report_rival(sender.rival, place, now_ms)
        self._report_contacts(now_ms)
        if sender.node is None:
            reason = f"ignored {format_address(place)}: {sender.why}"
            if self._strangers.is_first(reason, now_ms):
                self._complain(reason + self._advice(sender, place))
            return
        if sender.is_new:
            self._runtime.contact_opened(sender.node, self)
        if self._runtime.receive(data, sender.node):
            rival = self._neighbours.was_heard(sender.node, data, place, now_ms)
            self._report_rival(rival, place, now_ms)
        self._report_contacts(now_ms)
        self._runtime.settle()

    def _advice(self, sender: Sender, place: Address) -> str:
        """Return advice about an ignored sender, once per address."""
        if not sender.advice or place in self._advised or len(self._advised) == MOST_LEARNT:
            return ""
        self._advised.add(place)
        return f"; {sender.advice}"

    def _report_rival(self, rival: Rival | None, place: Address, now_ms: int) -> None:
        if rival is not None:
            places = format_address(rival.place), format_address(place)
            self._runtime.report(NumberShared(now_ms, rival.node, places))

    def _report_contacts(self, now_ms: int) -> None:
        """Report contacts that opened or closed. The engine learns of those that closed."""
        for node, place, reason in self._neighbours.contact_changes():
            if reason is not None:
                self._runtime.contact_lost(node)
            self._runtime.report(
                ContactOpened(now_ms, node, format_address(place))
                if reason is None
                else ContactClosed(now_ms, node, format_address(place), reason)
            )

    def _report_strangers(self, now_ms: int) -> None:
        for reason, count, within_ms in self._strangers.due(now_ms):
            often = f"{count:,} more datagrams within {within_ms / 1000:,.0f} s"
            self._complain(
                f"ignored {often} from other addresses" if reason is None else f"{reason}: {often}"
            )

    def send(self, peer: int, data: bytes) -> None:
        """Send a datagram to the last address of the peer."""
        address = self._neighbours.address_of(peer)
        if self._transport is not None and address is not None:
            self._transport.sendto(data, address)

    def discovered(self, node: int, place: Address, period_ms: int) -> None:
        """Process a beacon; greet its node if it is new."""
        now_ms = self._runtime.now_ms()
        if self._neighbours.discovered(node, place, period_ms, now_ms):
            self._report_contacts(now_ms)
            self._runtime.contact_opened(node, self)
            self._runtime.settle()

    def another_handle(self) -> socket.socket:
        """Return a duplicate of the socket, for beacons, which need `sendmsg`. The caller closes it."""
        assert self._transport is not None
        duplicate: socket.socket = self._transport.get_extra_info("socket").dup()
        return duplicate

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _check_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_CHECK_S, self._check)

    def _check(self) -> None:
        now_ms = self._runtime.now_ms()
        self._report_strangers(now_ms)
        greeted, gone = self._neighbours.silent(now_ms)
        self._report_contacts(now_ms)
        for peer in greeted:
            self._runtime.contact_opened(peer, self)
        for peer in gone:
            self._runtime.contact_lost(peer)
        if greeted or gone:
            self._runtime.settle()
        self._check_later()
