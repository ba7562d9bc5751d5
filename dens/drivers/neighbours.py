"""Who is at which address, for links that have no contacts of their own, such as UDP.

Listed peers have one address for good. Others are learnt from their hello, which verifies where there is a
mission key; a hello is not tied to a contact, so a recorded one verifies too, and a peer that was heard of
late is therefore not moved by one. Silence is measured without greetings (hellos and summaries, which are
said until they are answered): a peer that says nothing else has not understood us, and is greeted anew. If
that does not help it is given twice the time, because an answer may be slow to come.

Whoever is started anew greets from another address, and the old one falls silent. Where both are heard after
that, two are alive who share a number.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from dens.envelope import SEALED, peek
from dens.numbers import HELLO, MessageType
from dens.seal import TAG_BYTES, Sealer

Address = tuple[str, int]
"""Host and port."""
MOST_LEARNT: Final = 1_024
"""So many peers that are not listed are known at once."""
LOYAL_MS: Final = 10_000
"""For so long after it was heard a sealed peer is not moved to another address."""
LONGEST_SILENCE_MS: Final = 30_000
"""A listed peer is greeted anew at least so often, or as often as was asked for if that is less often."""
RIVAL_MS: Final = 60_000
"""Whoever is heard at one place, then at another and within this time at the first again is two."""
_GREETINGS: Final = frozenset({MessageType.HELLO, MessageType.SUMMARY})


def spoken(address: Address) -> str:
    """Return an address as it is written in files and told to people.

    >>> spoken(("::1", 7001)), spoken(("127.0.0.1", 7001))
    ('[::1]:7001', '127.0.0.1:7001')
    """
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Rival(NamedTuple):
    """Somebody else who is alive and has the number of whoever was just heard."""

    node: int
    place: Address


class Heard(NamedTuple):
    """Who says something."""

    node: int | None
    """Nobody where it is not to be heard."""
    is_new: bool = False
    """Whether a contact begins with it."""
    why: str = ""
    """Why it is not heard, as far as that is known."""
    rival: Rival | None = None
    """Who shares its number; told once for each pair of places."""


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
        self._patience_ms: dict[int, int] = dict.fromkeys(listed, silence_ms)
        """How long a listed peer may be silent before it is greeted anew."""
        self._voices: dict[int, tuple[Address, Address | None, int]] = {}
        """Where each peer spoke last, where before that, and since when it has spoken from there."""
        self._told: set[frozenset[Address]] = set()

    def address_of(self, node: int) -> Address | None:
        """Return where a peer was heard last, or None."""
        return self._addresses.get(node)

    def node_at(self, data: bytes, address: Address, now_ms: int) -> Heard:
        """Return who says this, or why nobody is to be heard."""
        known = self._nodes.get(address)
        seen = peek(data)
        if seen is None:
            return Heard(known, why="" if known is not None else "what it sends is no message of DENS")
        kind, _, origin, *_ = seen
        if known is not None and (kind != HELLO or origin == known or known in self._listed):
            if kind not in _GREETINGS:
                self._heard_ms[known] = now_ms
                self._patience_ms[known] = self._silence_ms
            return Heard(known, rival=self._rival(known, address, now_ms))
        if kind != HELLO:
            return Heard(None, why="it has not greeted this node, and is heard when it does")
        why = self._why_not(origin, data)
        if why is not None:
            return Heard(None, why=why)
        rival = self._rival(origin, address, now_ms)
        if self._sealer.tag_bytes and now_ms - self._heard_ms.get(origin, -LOYAL_MS) < LOYAL_MS:
            at = spoken(self._addresses[origin])
            why = (
                f"it calls itself {origin}, who was heard at {at} just now, and is heard when that one has "
                f"been silent for {LOYAL_MS // 1000} s"
            )
            return Heard(None, why=why, rival=rival)
        if known is not None:
            self.forget(known)
        self.forget(origin)
        self._addresses[origin] = address
        self._nodes[address] = origin
        self._heard_ms[origin] = now_ms
        return Heard(origin, is_new=True, rival=rival)

    def _rival(self, node: int, here: Address, now_ms: int) -> Rival | None:
        """Return who else with this number is alive, the first time that it shows."""
        last, before, since_ms = self._voices.get(node, (here, None, now_ms))
        if here == last:
            self._voices[node] = here, before, since_ms
            return None
        self._voices[node] = here, last, now_ms
        pair = frozenset((here, last))
        if here != before or now_ms - since_ms >= RIVAL_MS or pair in self._told:
            return None
        if len(self._told) < MOST_LEARNT:
            self._told.add(pair)
        return Rival(node, last)

    def _why_not(self, origin: int, hello: bytes) -> str | None:
        """Return why whoever says this hello is not to be learnt, or None."""
        if origin == self._sealer.node:
            return f"it calls itself {origin}, which is this node's own number"
        if origin in self._listed:
            return f"it calls itself {origin}, and that peer is at {spoken(self._addresses[origin])}"
        if not self._accepts_others:
            return "it is no peer of this node, and others are not accepted"
        is_sealed = self._sealer.tag_bytes > 0
        if bool(hello[0] & SEALED) is not is_sealed:
            return (
                "its hello has no tag, and this node has a mission key"
                if is_sealed
                else "its hello has a tag, and this node has no mission key"
            )
        if is_sealed and not self._sealer.verifies(hello[:-TAG_BYTES], hello[-TAG_BYTES:], origin, 0):
            return "the tag of its hello was not made with this node's mission key"
        if origin not in self._addresses and len(self._addresses) - len(self._listed) >= MOST_LEARNT:
            return f"{MOST_LEARNT:,} others are known already"
        return None

    def forget(self, node: int) -> None:
        """Forget where a peer is; an unknown one is no error."""
        address = self._addresses.pop(node, None)
        if address is not None:
            del self._nodes[address]
            del self._heard_ms[node]
            self._patience_ms.pop(node, None)

    def silent(self, now_ms: int) -> tuple[list[int], list[int]]:
        """Return the listed peers to be greeted anew, and the others that are gone and forgotten now."""
        greeted = [
            node for node in sorted(self._listed) if now_ms - self._heard_ms[node] >= self._patience_ms[node]
        ]
        gone = [
            node
            for node in sorted(self._heard_ms)
            if node not in self._listed and now_ms - self._heard_ms[node] >= 3 * self._silence_ms
        ]
        longest_ms = max(self._silence_ms, LONGEST_SILENCE_MS)
        for node in greeted:
            self._heard_ms[node] = now_ms
            self._patience_ms[node] = min(2 * self._patience_ms[node], longest_ms)
        for node in gone:
            self.forget(node)
            self._voices.pop(node, None)
        return greeted, gone
