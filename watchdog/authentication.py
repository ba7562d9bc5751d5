"""The 8-byte tag of dens/overlay/wire/authentication.py, where there is hashlib: HMAC-SHA256 under the
sender's key.

A board is a publisher, and its peers are mediators.
"""

from hashlib import sha256

TAG_BYTES = 8
MEDIATOR = 2
PUBLISHER = 3


def four_bytes(number: int) -> bytes:
    """Return a node as a tag covers it; -1, an unknown one, stands for everyone."""
    return bytes([number >> 24 & 255, number >> 16 & 255, number >> 8 & 255, number & 255])


def hmac(key: bytes, *parts: bytes) -> bytes:
    """Return the HMAC-SHA256 of the parts, one behind the other."""
    if len(key) > 64:
        key = sha256(key).digest()
    inner = bytearray(64)
    outer = bytearray(64)
    for i in range(64):
        byte = key[i] if i < len(key) else 0
        inner[i] = byte ^ 54
        outer[i] = byte ^ 92
    digest = sha256(inner)
    for part in parts:
        digest.update(part)
    whole = sha256(outer)
    whole.update(digest.digest())
    return bytes(whole.digest())


class Authenticator:
    """Makes and verifies tags for one publisher; it caches the key of the last mediator it verified."""

    def __init__(self, node: int, mission_key: bytes) -> None:
        self._mission_key = mission_key
        self._node = four_bytes(node)
        self._own = self._key(node, PUBLISHER)
        self._peer = -1
        self._peer_key = b""

    def _key(self, node: int, role: int) -> bytes:
        return hmac(self._mission_key, b"dens node key v2", bytes([role]), four_bytes(node))

    def append_tag(self, b: bytearray, n: int, receiver: int, session: bytes | bytearray) -> None:
        """Write the tag of b[:n] behind it, for this session of this receiver."""
        tag = hmac(self._own, four_bytes(receiver), bytes(session), bytes(b[:n]))
        for i in range(TAG_BYTES):
            b[n + i] = tag[i]

    def verifies(self, b: bytes | bytearray, n: int, peer: int, session: bytes | bytearray) -> bool:
        """Return whether this mediator made the tag at b[n] for this session of this board."""
        if peer != self._peer:
            self._peer_key = self._key(peer, MEDIATOR)
            self._peer = peer
        tag = hmac(self._peer_key, self._node, bytes(session), bytes(b[:n]))
        difference = 0
        for i in range(TAG_BYTES):
            difference |= tag[i] ^ b[n + i]
        return difference == 0
