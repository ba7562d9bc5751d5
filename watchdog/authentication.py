"""The 8-byte tag of dens/authentication.py, where there is hashlib: HMAC-SHA256 under the sender's key."""

from hashlib import sha256

TAG_BYTES = 8


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
    """Makes and verifies tags for one node; it remembers the key of the peer it heard last."""

    def __init__(self, node: int, mission_key: bytes) -> None:
        self._mission_key = mission_key
        self._own = self._key(node)
        self._peer = -1
        self._peer_key = b""

    def _key(self, node: int) -> bytes:
        number = bytes([node >> 8 & 255, node & 255])
        if node > 65535:
            number = bytes([node >> 24, node >> 16 & 255]) + number
        return hmac(self._mission_key, b"dens node key v1", number)

    def append_tag(self, b: bytearray, n: int, session: bytes | bytearray) -> None:
        """Write the tag of b[:n] behind it, for this session of the receiver."""
        tag = hmac(self._own, bytes(session), bytes(b[:n]))
        for i in range(TAG_BYTES):
            b[n + i] = tag[i]

    def verifies(self, b: bytes | bytearray, n: int, peer: int, session: bytes | bytearray) -> bool:
        """Tell whether this peer made the tag that stands at b[n] for this session of ours."""
        if peer != self._peer:
            self._peer_key = self._key(peer)
            self._peer = peer
        tag = hmac(self._peer_key, bytes(session), bytes(b[:n]))
        difference = 0
        for i in range(TAG_BYTES):
            difference |= tag[i] ^ b[n + i]
        return difference == 0
