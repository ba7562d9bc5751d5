"""The sockets of discovery. Beacons leave through the node's own socket and arrive on one socket per
interface.

A beacon has the node's own source address, so its receivers know where to greet. It travels one hop (TTL or
hop limit 1). Interfaces may disappear and return while a node runs: a missing one is reported, and tried
again with the next beacon. Linux only.
"""

import asyncio
import errno
import fcntl
import socket
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from dens.node.links.discovery import Beacon, Discovery
from dens.node.links.log_throttle import LogThrottle
from dens.node.links.neighbours import Address, format_address

BROADCAST: Final = "255.255.255.255"
"""Used in place of a multicast group."""
_CHECK_S: Final = 0.1
_MOST_AT_ONCE: Final = 64
"""Datagrams read per wake-up of a socket."""
_MOST_COMPLAINTS: Final = 16
_IP_PKTINFO: Final = 8
_IP_MULTICAST_ALL: Final = 49
_SIOCGIFFLAGS: Final = 0x8913
_SIOCGIFADDR: Final = 0x8915
_Target = tuple[str, int] | tuple[str, int, int, int]
_UP, _BROADCAST, _LOOPBACK, _MULTICAST = 0x1, 0x2, 0x8, 0x1000


class InterfaceError(Exception):
    """An interface cannot be used for discovery. The message contains advice."""

    def __init__(self, code: str, interface: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.interface = interface


@dataclass(frozen=True, slots=True)
class BeaconInterface:
    """An interface with a multicast group, or BROADCAST, and a port."""

    interface: str
    group: str
    port: int

    @property
    def is_ipv6(self) -> bool:
        return ":" in self.group


def interface_index(settings: BeaconInterface) -> int:
    """Return the index of the interface, or raise `InterfaceError` with the reason."""
    name = settings.interface
    try:
        index = socket.if_nametoindex(name)
    except OSError:
        known = ", ".join(name for _, name in socket.if_nameindex())
        raise InterfaceError("D358", name, f'unknown interface "{name}"; this machine has {known}') from None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16s16x", name.encode())
        [flags] = struct.unpack_from("H", fcntl.ioctl(control, _SIOCGIFFLAGS, request), 16)
        if not flags & _UP:
            raise InterfaceError("D359", name, f"{name} is down; bring it up: ip link set {name} up")
        if settings.group == BROADCAST and not flags & _BROADCAST:
            raise InterfaceError("D359", name, f"{name} does not support broadcast; use a group instead")
        if settings.group != BROADCAST and not flags & (_MULTICAST | _LOOPBACK):
            raise InterfaceError("D359", name, f"{name} does not support multicast; try broadcast = true")
        if not settings.is_ipv6:
            try:
                fcntl.ioctl(control, _SIOCGIFADDR, request)
            except OSError:
                raise InterfaceError(
                    "D359",
                    name,
                    f"{name} has no IPv4 address; give it one, or an IPv6 group such as ff02::4445",
                ) from None
    return index


def open_listener(settings: BeaconInterface, index: int) -> socket.socket:
    """Return a socket that receives the beacons of one interface, or raise `InterfaceError`."""
    family = socket.AF_INET6 if settings.is_ipv6 else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_DGRAM)
    try:
        listening.setblocking(False)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if settings.is_ipv6:
            listening.bind((settings.group, settings.port, 0, index))
            joined = socket.inet_pton(socket.AF_INET6, settings.group) + struct.pack("I", index)
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, joined)
        elif settings.group == BROADCAST:
            name = settings.interface.encode()
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, name)
            listening.bind((BROADCAST, settings.port))
        else:
            listening.bind((settings.group, settings.port))
            listening.setsockopt(socket.IPPROTO_IP, _IP_MULTICAST_ALL, 0)
            joined = socket.inet_aton(settings.group) + bytes(4) + struct.pack("i", index)
            listening.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, joined)
    except OSError as error:
        listening.close()
        raise _explain(settings, error) from None
    return listening


def _explain(settings: BeaconInterface, error: OSError) -> InterfaceError:
    place, name = format_address((settings.group, settings.port)), settings.interface
    if error.errno in (errno.EPERM, errno.EACCES):
        advice = "start dens with the capability CAP_NET_RAW, or use a group instead of broadcast"
        return InterfaceError("D360", name, f"{place} on {name}: {error.strerror}; {advice}")
    if error.errno == errno.ENETUNREACH:
        advice = f"it has no route; add one: ip -6 route add ff00::/8 dev {name} table local"
        if not settings.is_ipv6:
            advice = f"it has no route; add one: ip route add {settings.group} dev {name}"
        return InterfaceError("D359", name, f"{place} on {name} cannot be used: {error.strerror}; {advice}")
    advice = f"check `ip addr show {name}` and `ip maddr show {name}`"
    return InterfaceError("D359", name, f"{place} on {name} cannot be used: {error.strerror}; {advice}")


def _routing(
    settings: BeaconInterface, index: int, source: str
) -> tuple[list[tuple[int, int, bytes]], _Target]:
    """Return the ancillary data of a beacon (interface, source, one hop) and its target.

    For an unspecified source (0.0.0.0) the system takes the address of the interface.
    """
    if settings.is_ipv6:
        hops = (socket.IPPROTO_IPV6, socket.IPV6_HOPLIMIT, struct.pack("i", 1))
        return [hops], (settings.group, settings.port, 0, index)
    hops = (socket.IPPROTO_IP, socket.IP_TTL, struct.pack("i", 1))
    out_of = (socket.IPPROTO_IP, _IP_PKTINFO, struct.pack("i4s4x", index, socket.inet_aton(source)))
    return [hops, out_of], (settings.group, settings.port)


class Beacons:
    """Sends and receives the beacons of one node on all configured interfaces."""

    def __init__(
        self,
        discovery: Discovery,
        interfaces: Sequence[BeaconInterface],
        talking: socket.socket,
        clock: Callable[[], int],
        on_beacon: Callable[[Beacon, Address], None],
        complain: Callable[[str], None],
    ) -> None:
        """`talking` is the node's own socket."""
        self._discovery = discovery
        self._interfaces = interfaces
        self._talking = talking
        self._clock = clock
        self._on_beacon = on_beacon
        self._complain = complain
        self._complaints: LogThrottle[str] = LogThrottle(_MOST_COMPLAINTS)
        self._listening: dict[BeaconInterface, tuple[int, socket.socket]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """Start listening and sending, or raise `InterfaceError` with all sockets closed."""
        try:
            if any(settings.group == BROADCAST for settings in self._interfaces):
                self._talking.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            now_ms = self._clock()
            beacon = None if self._discovery.due_ms(now_ms) is None else self._discovery.beacon(now_ms)
            for settings in self._interfaces:
                self._listen(settings, interface_index(settings))
                if beacon is not None:
                    self._send(settings, beacon)
        except InterfaceError:
            self.close()
            raise
        self._check()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for settings in list(self._listening):
            self._stop_listening(settings)
        self._talking.close()

    def _listen(self, settings: BeaconInterface, index: int) -> None:
        listening = open_listener(settings, index)
        self._listening[settings] = index, listening
        asyncio.get_running_loop().add_reader(listening.fileno(), self._receive, listening)

    def _stop_listening(self, settings: BeaconInterface) -> None:
        _, listening = self._listening.pop(settings)
        asyncio.get_running_loop().remove_reader(listening.fileno())
        listening.close()

    def _receive(self, listening: socket.socket) -> None:
        for _ in range(_MOST_AT_ONCE):
            try:
                data, address = listening.recvfrom(2_048)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                return  # the interface disappeared; it is tried again with the next beacon
            place = (str(address[0]), int(address[1]))
            reception = self._discovery.receive(data, place, self._clock())
            if reception.beacon is not None:
                self._on_beacon(reception.beacon, place)
            elif reception.why:
                self._report(f"ignored {format_address(place)}: {reception.why}")

    def _check(self) -> None:
        now_ms = self._clock()
        due_ms = self._discovery.due_ms(now_ms)
        if due_ms is not None and due_ms <= now_ms:
            beacon = self._discovery.beacon(now_ms)
            for settings in self._interfaces:
                try:
                    self._send(settings, beacon)
                except InterfaceError as error:
                    self._report(str(error))
        for message, count, within_ms in self._complaints.due(self._clock()):
            if message is not None:
                self._complain(f"{message}: {count:,} more times within {within_ms / 1000:,.0f} s")
        self._timer = asyncio.get_running_loop().call_later(_CHECK_S, self._check)

    def _send(self, settings: BeaconInterface, beacon: bytes) -> None:
        """Send a beacon through an interface. Listen again if the interface returned."""
        index = interface_index(settings)
        if self._listening.get(settings, (-1,))[0] != index:
            if settings in self._listening:
                self._stop_listening(settings)
            self._listen(settings, index)
        ancillary, target = _routing(settings, index, str(self._talking.getsockname()[0]))
        try:
            self._talking.sendmsg([beacon], ancillary, 0, target)
        except (BlockingIOError, InterruptedError):
            return  # it is lost, as on any link
        except OSError as error:
            raise _explain(settings, error) from None

    def _report(self, message: str) -> None:
        if self._complaints.is_first(message, self._clock()):
            self._complain(message)
