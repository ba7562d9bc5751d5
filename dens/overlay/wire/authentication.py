"""Authentication tags: eight bytes of HMAC-SHA256 under the key of the transmitting node in its role.

    node key   HMAC-SHA256(mission key, "dens node key v2" | role (1) | node (4))
    tag        HMAC-SHA256(node key, receiver (4) | the receiver's session (4) | datagram)[:8]

Receiver and session are not transmitted: the receiver verifies with its own. A frame that was recorded
therefore verifies at its receiver only and, unless it is a HELLO, in its contact only. A key is issued for
one role, so the key of a subscriber or publisher cannot act as a mediator.

A HELLO is transmitted before the receiver's session is known: its session is 0. Where the sender does not
know the receiver either (a board that broadcasts, a beacon), the receiver is `EVERYONE`.
docs/explanation/security.md lists what the holder of each key can do.
"""

import hmac
from struct import Struct
from typing import Final

from dens.overlay.wire.codes import Role
from dens.overlay.wire.item import ENVELOPE_BYTES

TAG_BYTES: Final = 8
EVERYONE: Final = (1 << 32) - 1
"""The receiver of a broadcast; not a valid node number."""
_LABEL: Final = b"dens node key v2"
_NODE_KEY: Final = Struct(">16sBI")
_CONTACT: Final = Struct(">II")
_ROLES: Final = frozenset(int(role) for role in Role)
_HEARD_AT: Final = ENVELOPE_BYTES + 5
"""Where a HELLO names the session that it has heard from the receiver."""
_NO_SESSION: Final = bytes(4)


def node_key(mission_key: bytes, node: int, role: int) -> bytes:
    """Return the key of one node in one role."""
    return hmac.digest(mission_key, _NODE_KEY.pack(_LABEL, role, node), "sha256")


def tag_of(key: bytes, body: bytes, receiver: int, session: int) -> bytes:
    """Return the tag under a node key for this session of this receiver."""
    return hmac.digest(key, _CONTACT.pack(receiver, session) + body, "sha256")[:TAG_BYTES]


class Authenticator:
    """Makes and verifies tags for one node. Without a mission key there are no tags, and none verifies."""

    __slots__ = ("_keys", "_mission_key", "_own_keys", "node", "tag_bytes")

    def __init__(self, node: int, mission_key: bytes | None = None) -> None:
        self.node: Final = node
        self._mission_key = mission_key
        self._own_keys: dict[int, bytes] = {}
        self._keys: dict[int, bytes] = {}
        self.tag_bytes: Final = 0 if mission_key is None else TAG_BYTES

    def tag(self, body: bytes, role: int, receiver: int, session: int) -> bytes:
        """Return the tag for what this node transmits in this role; empty without a mission key."""
        if self._mission_key is None:
            return b""
        key = self._own_keys.get(role)
        if key is None:
            key = self._own_keys[role] = node_key(self._mission_key, self.node, role)
        return tag_of(key, body, receiver, session)

    def verifies(self, body: bytes, tag: bytes, peer: int, role: int, session: int) -> bool:
        """Return whether this peer made this tag in this role for this session of this node."""
        return self._verifies(body, tag, peer, role, self.node, session)

    def verifies_broadcast(self, body: bytes, tag: bytes, peer: int, role: int) -> bool:
        """Return whether this peer made this tag in this role for everyone."""
        return self._verifies(body, tag, peer, role, EVERYONE, 0)

    def verifies_hello(self, body: bytes, tag: bytes, peer: int) -> bool:
        """Return whether this peer made this HELLO, in the role that it names, for this node or, if it names
        no session of a receiver, for everyone.
        """
        if len(body) <= ENVELOPE_BYTES:
            return False
        role = body[ENVELOPE_BYTES]
        if self.verifies(body, tag, peer, role, 0):
            return True
        is_first = body[_HEARD_AT : _HEARD_AT + 4] == _NO_SESSION
        return is_first and self.verifies_broadcast(body, tag, peer, role)

    def _verifies(self, body: bytes, tag: bytes, peer: int, role: int, receiver: int, session: int) -> bool:
        if self._mission_key is None or role not in _ROLES:
            return False
        name = peer << 2 | role
        key = self._keys.get(name)
        is_known = key is not None
        if key is None:
            key = node_key(self._mission_key, peer, role)
        is_authentic = hmac.compare_digest(tag_of(key, body, receiver, session), tag)
        if is_authentic and not is_known:
            self._keys[name] = key  # Only after a tag has verified: anyone can invent numbers.
        return is_authentic
