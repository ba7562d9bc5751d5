"""Authenticity: an 8-byte tag under a key that belongs to the transmitting node.

Every node's key is derived from the mission key and its number. The tag covers the whole envelope, age and
hops included, and is made anew by every node that transmits the message; a receiver verifies it with the
key of the peer it hears. The tag also covers the *receiver's* session number of this contact, which both
sides know from the hello and which is therefore not sent: what was recorded in one contact does not verify
in another. Whoever holds the mission key can speak for everybody; docs/protocols.md says what that means.
"""

import hmac
from typing import Final

TAG_BYTES: Final = 8
_LABEL: Final = b"dens node key v1"


def node_key(mission_key: bytes, node: int) -> bytes:
    """Return the key of one node. Those below 65,536 have two bytes here, as they always had: keys that were
    derived before there were others stay what they are.
    """
    number = node.to_bytes(2 if node < 65_536 else 4, "big")
    return hmac.digest(mission_key, _LABEL + number, "sha256")


class Authenticator:
    """Makes and verifies tags for one node. Without a mission key nothing is authenticated, and tagged data
    is refused.
    """

    __slots__ = ("_keys", "_mission_key", "_own_key", "node", "tag_bytes")

    def __init__(self, node: int, mission_key: bytes | None = None) -> None:
        self.node: Final = node
        self._mission_key = mission_key
        self._own_key = b"" if mission_key is None else node_key(mission_key, node)
        self._keys: dict[int, bytes] = {}
        self.tag_bytes: Final = 0 if mission_key is None else TAG_BYTES

    def tag(self, body: bytes, session: int) -> bytes:
        """Return the tag for what this node is about to transmit (nothing where there is no key)."""
        if self._mission_key is None:
            return b""
        return hmac.digest(self._own_key, session.to_bytes(4, "big") + body, "sha256")[:TAG_BYTES]

    def verifies(self, body: bytes, tag: bytes, peer: int, session: int) -> bool:
        """Say whether this peer made this tag for this session of ours."""
        if self._mission_key is None:
            return False
        key = self._keys.get(peer)
        is_known = key is not None
        if key is None:
            key = node_key(self._mission_key, peer)
        expected = hmac.digest(key, session.to_bytes(4, "big") + body, "sha256")[:TAG_BYTES]
        is_true = hmac.compare_digest(expected, tag)
        if is_true and not is_known:
            self._keys[peer] = key  # not for whoever only says so: numbers are free to invent
        return is_true
