"""Neighbour discovery: the beacons that one node sends and accepts.

    0   4  "DENS"
    4   1  version of this layout: 2 (in version 1 a tag covered no receiver)
    5   1  role
    6   1  table check of the mission table
    7   4  node
    11  4  life: rises with every start of the node
    15  4  count: rises with every beacon of that life
    19  2  tenths of a second between beacons
    21  8  tag, where the mission has a key

A beacon is not an overlay message and opens no contact: it invites its receivers to greet. It is sent to a
group or broadcast, so it is not bound to a session and a recorded one would always verify. Therefore life and
count have to rise, and are remembered even when the node is forgotten. This module has no socket and no clock
(dens/node/links/beacons.py has).
"""

from dataclasses import dataclass
from ipaddress import ip_address
from struct import Struct
from typing import Final, NamedTuple

from dens.node.links.neighbours import Address
from dens.overlay.errors import OtherVersionError, RemoteProtocolError
from dens.overlay.session.rate_limit import RateLimit
from dens.overlay.wire.authentication import EVERYONE, TAG_BYTES, Authenticator
from dens.overlay.wire.codes import LAST_NODE, Role
from dens.overlay.wire.envelope import UPDATE_ADVICE

MAGIC: Final = b"DENS"
VERSION: Final = 2
_BEACON: Final = Struct(">4sBBBIIIH")
BEACON_BYTES: Final = _BEACON.size
_ROLES: Final = frozenset(int(role) for role in Role)
_TENTH_MS: Final = 100
_MOST_COUNT: Final = (1 << 32) - 1
MOST_REMEMBERED: Final = 4_096
"""Nodes whose latest beacon is remembered; beyond that the least recent is forgotten."""
PLACE_MS, PLACE_BURST = 50, 40
"""Rate limit per source address: interval between beacons and burst."""
ALL_MS, ALL_BURST = 2, 400
"""Rate limit of all addresses together, because source addresses can be forged."""


@dataclass(frozen=True, slots=True)
class Beacon:
    """The content of a beacon."""

    role: int
    table_check: int
    node: int
    life: int
    count: int
    period_ms: int

    def encode(self) -> bytes:
        return _BEACON.pack(
            MAGIC,
            VERSION,
            self.role,
            self.table_check,
            self.node,
            self.life,
            self.count,
            self.period_ms // _TENTH_MS,
        )

    @staticmethod
    def decode(content: bytes) -> "Beacon":
        """Decode a beacon, or raise `RemoteProtocolError`."""
        if len(content) != BEACON_BYTES or content[:4] != MAGIC:
            raise RemoteProtocolError(f"{len(content)} bytes are not a beacon", 0)
        _, version, role, check, node, life, count, tenths = _BEACON.unpack(content)
        if version != VERSION:
            raise OtherVersionError(f"version {version} is not known, {VERSION} is", 4)
        if role not in _ROLES:
            raise RemoteProtocolError(f"role {role} is not known", 5)
        if node > LAST_NODE:
            raise RemoteProtocolError(f"a node has a number up to {LAST_NODE}, not {node}", 7)
        if tenths == 0:
            raise RemoteProtocolError("the beacon period is 0", 19)
        return Beacon(role, check, node, life, count, tenths * _TENTH_MS)


class Reception(NamedTuple):
    """Result of receiving a datagram of the discovery group."""

    beacon: Beacon | None
    """None if it is invalid or not new."""
    why: str = ""
    """Why it is ignored, if that is worth reporting."""


class Discovery:
    """The beacons of one node, on all its interfaces."""

    def __init__(
        self,
        authenticator: Authenticator,
        table_check: int,
        role: Role,
        life: int,
        period_ms: int,
        now_ms: int,
        *,
        sends_beacons: bool = True,
    ) -> None:
        """Endpoints only listen: `sends_beacons` is False."""
        self._authenticator = authenticator
        self._table_check = table_check
        self._role = role
        self._life = life
        self._count = 0
        self._period_ms = period_ms
        self._sends_beacons = sends_beacons
        self._due_ms = now_ms
        self._places = RateLimit(PLACE_MS, PLACE_BURST)
        self._all = RateLimit(ALL_MS, ALL_BURST)
        self._last: dict[int, tuple[int, int]] = {}
        self.refused = 0
        """Number of ignored datagrams."""

    def __len__(self) -> int:
        """Return the number of remembered nodes."""
        return len(self._last)

    def due_ms(self, now_ms: int) -> int | None:
        """Return when the next beacon is due, at most two periods from now: the clock may be put back."""
        if not self._sends_beacons:
            return None
        return min(self._due_ms, now_ms + 2 * self._period_ms)

    def beacon(self, now_ms: int) -> bytes:
        """Return the next beacon with its tag. The period varies by up to a fifth, by node and count, so that
        two nodes do not keep colliding.
        """
        self._count = min(self._count + 1, _MOST_COUNT)
        node = self._authenticator.node
        beacon = Beacon(self._role, self._table_check, node, self._life, self._count, self._period_ms)
        self._due_ms = now_ms + self._period_ms * (80 + (node * 31 + self._count * 17) % 41) // 100
        content = beacon.encode()
        return content + self._authenticator.tag(content, self._role, EVERYONE, 0)

    def receive(self, data: bytes, place: Address, now_ms: int) -> Reception:
        """Process a datagram of the group. Nothing is remembered of it unless its tag verifies."""
        if not self._all.admits(0, now_ms) or not self._places.admits(_number_of(place), now_ms):
            return self._refuse("it exceeds the rate limit of beacons")
        tag_bytes = self._authenticator.tag_bytes
        content, tag = (data[:-TAG_BYTES], data[-TAG_BYTES:]) if tag_bytes else (data, b"")
        try:
            beacon = Beacon.decode(content)
        except OtherVersionError:
            return self._refuse(f"it sends beacons of another version: {UPDATE_ADVICE}")
        except RemoteProtocolError:
            return self._refuse("")  # another program or mission uses the group
        if beacon.node == self._authenticator.node:
            return Reception(None)  # most likely our own
        if tag_bytes and not self._authenticator.verifies_broadcast(content, tag, beacon.node, beacon.role):
            return self._refuse("")
        if beacon.table_check != self._table_check:
            return self._refuse(
                f"node {beacon.node} has a different mission table: give both nodes the same vocabularies"
            )
        last = self._last.get(beacon.node)
        if last is not None and (beacon.life, beacon.count) <= last:
            return self._refuse("")
        self._remember(beacon)
        return Reception(beacon)

    def _remember(self, beacon: Beacon) -> None:
        self._last.pop(beacon.node, None)
        self._last[beacon.node] = (beacon.life, beacon.count)
        if len(self._last) > MOST_REMEMBERED:
            del self._last[next(iter(self._last))]

    def _refuse(self, why: str) -> Reception:
        self.refused += 1
        return Reception(None, why)


def _number_of(place: Address) -> int:
    """Return the IP address as a number, without port and scope."""
    return int(ip_address(place[0].partition("%")[0]))
