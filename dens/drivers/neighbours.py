"""Who is at which address, for links that have no contacts of their own, such as UDP.

Listed peers have one address for good. Others are learnt from their hello, which verifies where there is a
mission key; a hello is not tied to a contact, so a recorded one verifies too, and a peer that was heard of
late is therefore not moved by one. Silence is measured without greetings (hellos and summaries, which are
said until they are answered): a peer that says nothing else has not understood us, and is greeted anew.
"""

from collections.abc import Mapping
from typing import Final

from dens.envelope import SEALED, peek
from dens.numbers import HELLO, MessageType
from dens.seal import TAG_BYTES, Sealer

Address = tuple[str, int]
"""Host and port."""
MOST_LEARNT: Final = 1_024
"""So many peers that are not listed are known at once."""
LOYAL_MS: Final = 10_000
"""For so long after it was heard a sealed peer is not moved to another address."""
_GREETINGS: Final = frozenset({MessageType.HELLO, MessageType.SUMMARY})


class Neighbours:
    """The peers of one node on one link."""

    def __init__(
        self,
        sealer: Sealer,
        listed: Mapping[int, Address],
        now_ms: int,
        *,
        accepts_others: bool,
        silence_ms: int,
    ) -> None:
        self._sealer = sealer
        self._addresses: dict[int, Address] = dict(listed)
        self._nodes: dict[Address, int] = {address: node for node, address in listed.items()}
        self._listed: Final = frozenset(listed)
        self._heard_ms: dict[int, int] = dict.fromkeys(listed, now_ms)
        self._accepts_others = accepts_others
        self._silence_ms = silence_ms

    def address_of(self, node: int) -> Address | None:
        """Return where a peer was heard last, or None."""
        return self._addresses.get(node)

    def node_at(self, data: bytes, address: Address, now_ms: int) -> tuple[int | None, bool]:
        """Return who says this, or None where nobody is to be heard, and whether a contact begins with it."""
        seen = peek(data)
        if seen is None:
            return self._nodes.get(address), False
        kind, _, origin, *_ = seen
        known = self._nodes.get(address)
        if known is not None and (kind != HELLO or origin == known or known in self._listed):
            if kind not in _GREETINGS:
                self._heard_ms[known] = now_ms
            return known, False
        if kind != HELLO or not self._may_be_learnt(origin, data, now_ms):
            return None, False
        if known is not None:
            self.forget(known)
        self.forget(origin)
        self._addresses[origin] = address
        self._nodes[address] = origin
        self._heard_ms[origin] = now_ms
        return origin, True

    def _may_be_learnt(self, origin: int, hello: bytes, now_ms: int) -> bool:
        if not self._accepts_others or origin == self._sealer.node or origin in self._listed:
            return False
        is_sealed = self._sealer.tag_bytes > 0
        if bool(hello[0] & SEALED) is not is_sealed:
            return False
        if is_sealed:
            if not self._sealer.verifies(hello[:-TAG_BYTES], hello[-TAG_BYTES:], origin, 0):
                return False
            heard_ms = self._heard_ms.get(origin)
            if heard_ms is not None and now_ms - heard_ms < LOYAL_MS:
                return False
        return origin in self._addresses or len(self._addresses) - len(self._listed) < MOST_LEARNT

    def forget(self, node: int) -> None:
        """Forget where a peer is; an unknown one is no error."""
        address = self._addresses.pop(node, None)
        if address is not None:
            del self._nodes[address]
            del self._heard_ms[node]

    def silent(self, now_ms: int) -> tuple[list[int], list[int]]:
        """Return the listed peers to be greeted anew, and the others that are gone and forgotten now."""
        greeted = [node for node in sorted(self._listed) if now_ms - self._heard_ms[node] >= self._silence_ms]
        gone = [
            node
            for node in sorted(self._heard_ms)
            if node not in self._listed and now_ms - self._heard_ms[node] >= 3 * self._silence_ms
        ]
        for node in greeted:
            self._heard_ms[node] = now_ms
        for node in gone:
            self.forget(node)
        return greeted, gone
