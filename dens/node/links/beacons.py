"""The sockets of discovery: beacons go out of the node's own socket, and come in on one for each interface.

A beacon leaves from where the node talks, so whoever hears it knows where to greet. It goes one hop: time to
live, or hop limit, 1. Interfaces may go and come back while a node runs; what is missing is told, and tried
again with the next beacon. Linux only, as all of this.
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
from dens.node.links.neighbours import Address, spoken
from dens.node.links.rates import Rates

EVERYBODY: Final = "255.255.255.255"
"""The group of a broadcast."""
_LOOK_S: Final = 0.1
_MOST_AT_ONCE: Final = 64
_MOST_COMPLAINTS: Final = 16
_IP_PKTINFO: Final = 8
_IP_MULTICAST_ALL: Final = 49
_SIOCGIFFLAGS: Final = 0x8913
_SIOCGIFADDR: Final = 0x8915
_Target = tuple[str, int] | tuple[str, int, int, int]
_UP, _BROADCAST, _LOOPBACK, _MULTICAST = 0x1, 0x2, 0x8, 0x1000


class InterfaceError(Exception):
    """An interface cannot be used for discovery: what is wrong, what to do, and its code."""

    def __init__(self, code: str, interface: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.interface = interface


@dataclass(frozen=True, slots=True)
class BeaconInterface:
    """Where beacons go and come from: an interface, and a group, or everybody."""

    interface: str
    group: str
    port: int

    @property
    def is_ipv6(self) -> bool:
        """Say of which family the group is."""
        return ":" in self.group


def interface_index(settings: BeaconInterface) -> int:
    """Return the number of the interface, or raise `InterfaceError` with what keeps it from being used."""
    name = settings.interface
    try:
        index = socket.if_nametoindex(name)
    except OSError:
        there_are = ", ".join(known for _, known in socket.if_nameindex())
        raise InterfaceError("D358", name, f'there is no interface "{name}"; there are {there_are}') from None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        request = struct.pack("16s16x", name.encode())
        [flags] = struct.unpack_from("H", fcntl.ioctl(asked, _SIOCGIFFLAGS, request), 16)
        if not flags & _UP:
            raise InterfaceError("D359", name, f"{name} is down; bring it up: ip link set {name} up")
        if settings.group == EVERYBODY and not flags & _BROADCAST:
            raise InterfaceError("D359", name, f"{name} knows no broadcast; give a group instead")
        if settings.group != EVERYBODY and not flags & (_MULTICAST | _LOOPBACK):
            raise InterfaceError("D359", name, f"{name} knows no multicast; try broadcast = true")
        if not settings.is_ipv6:
            try:
                fcntl.ioctl(asked, _SIOCGIFADDR, request)
            except OSError:
                raise InterfaceError(
                    "D359",
                    name,
                    f"{name} has no IPv4 address; give it one, or an IPv6 group such as ff02::4445",
                ) from None
    return index


def opened(settings: BeaconInterface, index: int) -> socket.socket:
    """Return a socket that hears the beacons of one interface, or raise `InterfaceError`."""
    family = socket.AF_INET6 if settings.is_ipv6 else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_DGRAM)
    try:
        listening.setblocking(False)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if settings.is_ipv6:
            listening.bind((settings.group, settings.port, 0, index))
            joined = socket.inet_pton(socket.AF_INET6, settings.group) + struct.pack("I", index)
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, joined)
        elif settings.group == EVERYBODY:
            name = settings.interface.encode()
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, name)
            listening.bind((EVERYBODY, settings.port))
        else:
            listening.bind((settings.group, settings.port))
            listening.setsockopt(socket.IPPROTO_IP, _IP_MULTICAST_ALL, 0)
            joined = socket.inet_aton(settings.group) + bytes(4) + struct.pack("i", index)
            listening.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, joined)
    except OSError as error:
        listening.close()
        raise _why(settings, error) from None
    return listening


def _why(settings: BeaconInterface, error: OSError) -> InterfaceError:
    place, name = spoken((settings.group, settings.port)), settings.interface
    if error.errno in (errno.EPERM, errno.EACCES):
        advice = "start it with the right to (CAP_NET_RAW), or use a group instead of broadcast"
        return InterfaceError("D360", name, f"{place} on {name}: {error.strerror}; {advice}")
    if error.errno == errno.ENETUNREACH:
        advice = f"there is no route for it; add one: ip -6 route add ff00::/8 dev {name} table local"
        if not settings.is_ipv6:
            advice = f"there is no route for it; add one: ip route add {settings.group} dev {name}"
        return InterfaceError("D359", name, f"{place} on {name} cannot be used: {error.strerror}; {advice}")
    advice = f"see what `ip addr show {name}` and `ip maddr show {name}` say"
    return InterfaceError("D359", name, f"{place} on {name} cannot be used: {error.strerror}; {advice}")


def _way_out(
    settings: BeaconInterface, index: int, source: str
) -> tuple[list[tuple[int, int, bytes]], _Target]:
    """Return what is said to the system with a beacon (interface, source, one hop), and where it goes. A
    source that is no address in particular is the interface's own.
    """
    if settings.is_ipv6:
        hops = (socket.IPPROTO_IPV6, socket.IPV6_HOPLIMIT, struct.pack("i", 1))
        return [hops], (settings.group, settings.port, 0, index)
    hops = (socket.IPPROTO_IP, socket.IP_TTL, struct.pack("i", 1))
    out_of = (socket.IPPROTO_IP, _IP_PKTINFO, struct.pack("i4s4x", index, socket.inet_aton(source)))
    return [hops, out_of], (settings.group, settings.port)


class Beacons:
    """Sends and hears the beacons of one node, on all interfaces that its file names."""

    def __init__(
        self,
        discovery: Discovery,
        interfaces: Sequence[BeaconInterface],
        talking: socket.socket,
        clock: Callable[[], int],
        found: Callable[[Beacon, Address], None],
        complain: Callable[[str], None],
    ) -> None:
        """`talking` is the node's own socket; `found` is told who was heard, and where it is."""
        self._discovery = discovery
        self._interfaces = interfaces
        self._talking = talking
        self._clock = clock
        self._found = found
        self._complain = complain
        self._complaints: Rates[str] = Rates(_MOST_COMPLAINTS)
        self._listening: dict[BeaconInterface, tuple[int, socket.socket]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """Begin to listen and to send, or raise `InterfaceError` and leave nothing open."""
        try:
            if any(settings.group == EVERYBODY for settings in self._interfaces):
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
        self._look()

    def close(self) -> None:
        """Let the sockets go."""
        if self._timer is not None:
            self._timer.cancel()
        for settings in list(self._listening):
            self._deafen(settings)
        self._talking.close()

    def _listen(self, settings: BeaconInterface, index: int) -> None:
        listening = opened(settings, index)
        self._listening[settings] = index, listening
        asyncio.get_running_loop().add_reader(listening.fileno(), self._came, listening)

    def _deafen(self, settings: BeaconInterface) -> None:
        _, listening = self._listening.pop(settings)
        asyncio.get_running_loop().remove_reader(listening.fileno())
        listening.close()

    def _came(self, listening: socket.socket) -> None:
        for _ in range(_MOST_AT_ONCE):
            try:
                data, address = listening.recvfrom(2_048)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                return  # the interface went away; it is looked for with the next beacon
            place = (str(address[0]), int(address[1]))
            seen = self._discovery.heard(data, place, self._clock())
            if seen.beacon is not None:
                self._found(seen.beacon, place)
            elif seen.why:
                self._tell(f"not heard: {spoken(place)}; {seen.why}")

    def _look(self) -> None:
        now_ms = self._clock()
        due_ms = self._discovery.due_ms(now_ms)
        if due_ms is not None and due_ms <= now_ms:
            beacon = self._discovery.beacon(now_ms)
            for settings in self._interfaces:
                try:
                    self._send(settings, beacon)
                except InterfaceError as error:
                    self._tell(str(error))
        for said, count, within_ms in self._complaints.due(self._clock()):
            if said is not None:
                self._complain(f"{said}: {count:,} times more within {within_ms / 1000:,.0f} s")
        self._timer = asyncio.get_running_loop().call_later(_LOOK_S, self._look)

    def _send(self, settings: BeaconInterface, beacon: bytes) -> None:
        """Send a beacon out of an interface, and listen there again if it went away and is there again."""
        index = interface_index(settings)
        if self._listening.get(settings, (-1,))[0] != index:
            if settings in self._listening:
                self._deafen(settings)
            self._listen(settings, index)
        said, target = _way_out(settings, index, str(self._talking.getsockname()[0]))
        try:
            self._talking.sendmsg([beacon], said, 0, target)
        except (BlockingIOError, InterruptedError):
            return  # it is lost, as on any link
        except OSError as error:
            raise _why(settings, error) from None

    def _tell(self, said: str) -> None:
        if self._complaints.is_first(said, self._clock()):
            self._complain(said)
