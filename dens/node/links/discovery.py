"""Who is in the neighbourhood: beacons that say so to everybody, and what is believed of them.

    0   4  "DENS"
    4   1  version of this layout: 2; in 1 a tag covered no receiver
    5   1  role
    6   1  table check of the mission table
    7   4  node
    11  4  life: rises with every start of the node
    15  4  count: rises with every beacon of that life
    19  2  tenths of a second between beacons
    21  8  tag, where the mission has a key

A beacon is no message of the overlay: it makes nobody a contact, it lets whoever hears it greet. It is sent
to a group or to everybody, so it is bound to no session, and a recorded one would verify for ever; therefore
life and count have to rise, and are remembered when the node itself is forgotten. What is here owns no
socket and no clock (dens/node/links/beacons.py does).
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
"""Of so many nodes it is known what was heard last; of more, who was heard longest ago is forgotten."""
PLACE_MS, PLACE_BURST = 50, 40
"""So often beacons of one place are looked into, and so many at once."""
ALL_MS, ALL_BURST = 2, 400
"""The same for all places together, because a source address is anybody's to invent."""


@dataclass(frozen=True, slots=True)
class Beacon:
    """What a node says of itself to everybody."""

    role: int
    table_check: int
    node: int
    life: int
    count: int
    period_ms: int

    def encode(self) -> bytes:
        """Return twenty-one bytes."""
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
        """Read twenty-one bytes, or raise RemoteProtocolError."""
        if len(content) != BEACON_BYTES or content[:4] != MAGIC:
            raise RemoteProtocolError(f"{len(content)} bytes are no beacon", 0)
        _, version, role, check, node, life, count, tenths = _BEACON.unpack(content)
        if version != VERSION:
            raise OtherVersionError(f"version {version} is not known, {VERSION} is", 4)
        if role not in _ROLES:
            raise RemoteProtocolError(f"role {role} is not known", 5)
        if node > LAST_NODE:
            raise RemoteProtocolError(f"a node has a number up to {LAST_NODE}, not {node}", 7)
        if tenths == 0:
            raise RemoteProtocolError("between beacons there is time", 19)
        return Beacon(role, check, node, life, count, tenths * _TENTH_MS)


class Seen(NamedTuple):
    """What was made of a datagram that came to the group."""

    beacon: Beacon | None
    """None where it is not to be believed, or says nothing new."""
    why: str = ""
    """Why nobody should be told of it as a neighbour; nothing where that is quite usual."""


class Discovery:
    """The beacons that one node sends and hears, whichever interface they take."""

    def __init__(
        self,
        authenticator: Authenticator,
        table_check: int,
        role: Role,
        life: int,
        period_ms: int,
        now_ms: int,
        *,
        is_heard: bool = True,
    ) -> None:
        """An end is not to be heard: it listens only."""
        self._authenticator = authenticator
        self._table_check = table_check
        self._role = role
        self._life = life
        self._count = 0
        self._period_ms = period_ms
        self._is_heard = is_heard
        self._due_ms = now_ms
        self._places = RateLimit(PLACE_MS, PLACE_BURST)
        self._all = RateLimit(ALL_MS, ALL_BURST)
        self._last: dict[int, tuple[int, int]] = {}
        self.refused = 0
        """How many datagrams were nothing that could be believed."""

    def __len__(self) -> int:
        """Return of how many nodes something is remembered."""
        return len(self._last)

    def due_ms(self, now_ms: int) -> int | None:
        """Return when the next beacon should leave; a clock that was put back makes it leave now."""
        if not self._is_heard:
            return None
        return min(self._due_ms, now_ms + 2 * self._period_ms)

    def beacon(self, now_ms: int) -> bytes:
        """Return the next beacon, with its tag. The next but one is due after a period that differs by up to
        a fifth, by node and count, so that no two nodes go on speaking at once.
        """
        self._count = min(self._count + 1, _MOST_COUNT)
        node = self._authenticator.node
        told = Beacon(self._role, self._table_check, node, self._life, self._count, self._period_ms)
        self._due_ms = now_ms + self._period_ms * (80 + (node * 31 + self._count * 17) % 41) // 100
        content = told.encode()
        return content + self._authenticator.tag(content, self._role, EVERYONE, 0)

    def heard(self, data: bytes, place: Address, now_ms: int) -> Seen:
        """Look into what came to the group from there; nothing is believed before its tag verifies."""
        if not self._all.admits(0, now_ms) or not self._places.admits(_number_of(place), now_ms):
            return self._refuse("it sends more than anybody need")
        tag_bytes = self._authenticator.tag_bytes
        content, tag = (data[:-TAG_BYTES], data[-TAG_BYTES:]) if tag_bytes else (data, b"")
        try:
            beacon = Beacon.decode(content)
        except OtherVersionError:
            return self._refuse(f"it sends beacons of another version: {UPDATE_ADVICE}")
        except RemoteProtocolError:
            return self._refuse("")  # Whatever else uses this group, another mission among it.
        if beacon.node == self._authenticator.node:
            return Seen(None)  # Our own, most likely.
        if tag_bytes and not self._authenticator.verifies_broadcast(content, tag, beacon.node, beacon.role):
            return self._refuse("")
        if beacon.table_check != self._table_check:
            return self._refuse(f"node {beacon.node} works with another mission table: give both the same")
        last = self._last.get(beacon.node)
        if last is not None and (beacon.life, beacon.count) <= last:
            return self._refuse("")
        self._remember(beacon)
        return Seen(beacon)

    def _remember(self, beacon: Beacon) -> None:
        self._last.pop(beacon.node, None)
        self._last[beacon.node] = (beacon.life, beacon.count)
        if len(self._last) > MOST_REMEMBERED:
            del self._last[next(iter(self._last))]

    def _refuse(self, why: str) -> Seen:
        self.refused += 1
        return Seen(None, why)


def _number_of(place: Address) -> int:
    """Return the address as a number, whatever port and scope it has."""
    return int(ip_address(place[0].partition("%")[0]))
