"""Who is at which address, for links that have no contacts of their own, such as UDP.

Listed peers have one address for good. Others are learnt from their hello, which verifies where there is a
mission key. A source address proves nothing, because anybody can write any: nothing here changes by a
datagram before its tag has verified. Who is at an address is found out first (`node_at`), the engine verifies
what it says, and only what is the peer's own and new in this contact counts as a sign of life (`was_heard`).

A hello is not tied to a contact, so a recorded one verifies too. Therefore, where there is a key:
- a peer that has said something new of late is not moved by a hello from elsewhere, nor driven from its
  address by somebody else's;
- the hello with which a peer began, or any of an earlier session, is no news when it comes from elsewhere;
- a peer that has said nothing but its hello is moved by one of a newer session at once.

Silence is measured without greetings (hellos and summaries, which are said until they are answered): a peer
that says nothing else has not understood us, and is greeted anew. If that does not help it is given twice the
time, because an answer may be slow to come. A listed peer from which nothing at all comes is out of reach. It
is greeted at a constant rate, so that a short contact is not missed.

A contact is open from the first sign of life until a greeting is not answered, or the peer is forgotten
(`contact_changes`).

Whoever is started anew greets from another address, and the old one falls silent. Where both are heard after
that, two are alive who share a number.

A neighbour may also be found by its beacons (dens/node/links/discovery.py). While these come it is greeted
anew as a listed one is; when they stop, and nothing else comes, it is let go.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from dens.overlay.errors import RemoteProtocolError
from dens.overlay.wire.authentication import TAG_BYTES, Authenticator
from dens.overlay.wire.codes import HELLO, MessageType
from dens.overlay.wire.envelope import TAGGED, UPDATE_ADVICE, VERSION, other_version, peek
from dens.overlay.wire.item import ENVELOPE_BYTES
from dens.overlay.wire.messages import HELLO_BYTES, Hello

Address = tuple[str, int]
"""Host and port."""
MOST_LEARNT: Final = 1_024
"""So many peers that are not listed are known at once."""
LOYAL_MS: Final = 10_000
"""For so long after it was heard an authenticated peer is not moved to another address."""
LONGEST_SILENCE_MS: Final = 30_000
"""A listed peer is greeted again at least so often, or as often as was asked for if that is less often."""
GONE_MS: Final = 90_000
"""The least silence after which a peer is forgotten that is neither listed nor found by beacons. An idle one
greets every half minute."""
MISSED: Final = 5
"""After so many periods without a beacon, or any word, a neighbour that was found by beacons is let go."""
LEAST_MISSED_MS: Final = 5_000
"""It is never let go sooner."""
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


class ContactChange(NamedTuple):
    """A contact that opened, or closed for a reason."""

    node: int
    place: Address
    reason: str | None
    """Why it closed; None where it opened."""


class Heard(NamedTuple):
    """Who says something, as far as its address tells."""

    node: int | None
    """Nobody where it is not to be heard."""
    is_new: bool = False
    """Whether a contact begins with it."""
    why: str = ""
    """Why it is not heard, as far as that is known."""
    advice: str = ""
    """What to do about it; worth saying once for each place."""
    rival: Rival | None = None
    """Who shares its number; told once for each pair of places."""


@dataclass(slots=True)
class _Peer:
    """What is known of one peer on this link."""

    address: Address
    quiet_since_ms: int
    """Since when nothing but greetings came; the start, or our own greeting, where nothing came at all."""
    patience_ms: int
    """How long a listed peer may be silent before it is greeted again."""
    session: int = 0
    """The latest session that it has greeted with."""
    is_proven: bool = False
    """Whether it has said anything that nobody could have recorded elsewhere."""
    beacon_ms: int | None = None
    """When its last beacon came, or anything else that is news, where it was found by beacons."""
    missed_ms: int = 0
    """After so much silence of that kind it is let go."""
    is_open: bool = False
    """Whether there is a contact: it was heard, and answered the last greeting."""
    is_heard: bool = False
    """Whether anything came since it was greeted."""
    has_spoken: bool = False
    """Whether anything but greetings came since it was greeted."""

    def silence_ms(self, now_ms: int) -> int:
        """Return how long it has been silent. A clock that was put back begins to count again."""
        self.quiet_since_ms = min(self.quiet_since_ms, now_ms)
        return now_ms - self.quiet_since_ms


class Neighbours:
    """The peers of one node on one link."""

    def __init__(
        self,
        authenticator: Authenticator,
        listed: Mapping[int, Address],
        now_ms: int,
        *,
        accepts_others: bool,
        silence_ms: int,
    ) -> None:
        self._authenticator = authenticator
        self._peers = {node: _Peer(address, now_ms, silence_ms) for node, address in listed.items()}
        self._nodes: dict[Address, int] = {address: node for node, address in listed.items()}
        self._listed: Final = frozenset(listed)
        self._accepts_others = accepts_others
        self._silence_ms = silence_ms
        self._voices: dict[int, tuple[Address, Address | None, int]] = {}
        """Where each peer spoke last, where before that, and since when it has spoken from there."""
        self._told: set[frozenset[Address]] = set()
        self._changes: list[ContactChange] = []

    def contact_changes(self) -> list[ContactChange]:
        """Return which contacts opened and closed since the last call."""
        changes, self._changes = self._changes, []
        return changes

    def __len__(self) -> int:
        """Return how many peers are known."""
        return len(self._peers)

    def address_of(self, node: int) -> Address | None:
        """Return where a peer was heard last, or None."""
        peer = self._peers.get(node)
        return None if peer is None else peer.address

    def node_at(self, data: bytes, address: Address, now_ms: int) -> Heard:
        """Return who seems to say this, or why nobody is to be heard. Only a hello that verifies, from where
        nobody was known to be, changes anything.
        """
        known = self._nodes.get(address)
        seen = peek(data)
        if seen is None:
            return Heard(known) if known is not None else _unread(data)
        kind, _, origin, *_ = seen
        if known is not None and (kind != HELLO or origin == known or known in self._listed):
            return Heard(known)
        if kind != HELLO:
            return Heard(None, why="it has not greeted this node, and is heard when it does")
        why = self._why_not(origin, data)
        if why is not None:
            return Heard(None, why=why)
        return self._greeted(origin, _session_in(data), known, address, now_ms)

    def was_heard(self, node: int, data: bytes, address: Address, now_ms: int) -> Rival | None:
        """Learn that a peer really said this, and for the first time: its engine has verified it. Return who
        shares its number, the first time that it shows.
        """
        peer, seen = self._peers.get(node), peek(data)
        if peer is None or seen is None:
            return None
        peer.is_heard = True
        if seen[0] in _GREETINGS:
            hello = data[ENVELOPE_BYTES : ENVELOPE_BYTES + HELLO_BYTES]
            peer.session = max(peer.session, _session_of(hello))
        if not peer.is_open:
            peer.is_open = True
            self._changes.append(ContactChange(node, peer.address, None))
        if peer.beacon_ms is not None:
            peer.beacon_ms = now_ms
        if seen[0] not in _GREETINGS:
            peer.quiet_since_ms = now_ms
            peer.patience_ms = self._silence_ms
            peer.is_proven = peer.has_spoken = True
        return self._rival(node, address, now_ms)

    def discovered(self, node: int, address: Address, period_ms: int, now_ms: int) -> bool:
        """Learn from a beacon that verifies, and was not heard before, that a node is there; say whether it
        is to be greeted. The list, whoever is heard at that address, and a peer that was heard elsewhere just
        now count for more.
        """
        peer, there = self._peers.get(node), self._nodes.get(address)
        if node in self._listed or node == self._authenticator.node or there in self._listed:
            return False
        missed_ms = max(MISSED * period_ms, LEAST_MISSED_MS)
        if peer is not None and there == node:
            peer.beacon_ms, peer.missed_ms = now_ms, missed_ms
            return False
        if there is not None and self._is_loyal(self._peers[there], now_ms):
            return False
        if peer is not None and self._is_loyal(peer, now_ms):
            return False
        if peer is None and len(self._peers) - len(self._listed) >= MOST_LEARNT:
            return False
        if there is not None:
            self.forget(there, f"node {node} is at its address")
            self._voices.pop(there, None)
        self.forget(node, f"its beacons come from {spoken(address)}")
        self._peers[node] = _Peer(address, now_ms, self._silence_ms, beacon_ms=now_ms, missed_ms=missed_ms)
        self._nodes[address] = node
        return True

    def _greeted(self, origin: int, session: int, known: int | None, address: Address, now_ms: int) -> Heard:
        """Take a hello that verifies, from where its peer is not known to be; `known` is who was there."""
        peer = self._peers.get(origin)
        if self._authenticator.tag_bytes:
            if peer is not None and session == peer.session:
                at = spoken(peer.address)
                why = f"it repeats the hello with which {origin} began at {at}, as a recording would"
                return Heard(None, why=why)
            if known is not None and self._is_loyal(self._peers[known], now_ms):
                why = f"it calls itself {origin}, and {known} was heard there just now"
                return Heard(None, why=why)
        rival = self._rival(origin, address, now_ms)
        if self._authenticator.tag_bytes and peer is not None and not self._may_move(peer, session, now_ms):
            at = spoken(peer.address)
            why = (
                f"it calls itself {origin}, who was heard at {at} just now, and is heard when that one has "
                f"been silent for {LOYAL_MS // 1000} s"
            )
            if session < peer.session:
                why = f"it greets with an earlier session than {origin} at {at}, as a recording would"
            return Heard(None, why=why, rival=rival)
        if known is not None:
            self.forget(known, f"node {origin} is at its address")
            self._voices.pop(known, None)
        self.forget(origin, f"it greets from {spoken(address)}")
        self._peers[origin] = _Peer(address, now_ms, self._silence_ms, session)
        self._nodes[address] = origin
        return Heard(origin, is_new=True, rival=rival)

    def _is_loyal(self, peer: _Peer, now_ms: int) -> bool:
        return peer.is_proven and peer.silence_ms(now_ms) < LOYAL_MS

    def _may_move(self, peer: _Peer, session: int, now_ms: int) -> bool:
        """Return whether a hello from elsewhere may be a known peer's. Sessions rise over restarts."""
        if session < peer.session:
            return False
        if peer.silence_ms(now_ms) >= LOYAL_MS:
            return True
        return not peer.is_proven and session > peer.session

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
        if len(self._told) >= MOST_LEARNT:
            return None
        self._told.add(pair)
        return Rival(node, last)

    def _why_not(self, origin: int, hello: bytes) -> str | None:
        """Return why whoever says this hello is not to be learnt, or None."""
        if origin == self._authenticator.node:
            return f"it calls itself {origin}, which is this node's own number"
        if origin in self._listed:
            return f"it calls itself {origin}, and that peer is at {spoken(self._peers[origin].address)}"
        if not self._accepts_others:
            return "it is no peer of this node, and others are not accepted"
        is_tagged = self._authenticator.tag_bytes > 0
        if bool(hello[0] & TAGGED) is not is_tagged:
            return (
                "its hello has no tag, and this node has a mission key"
                if is_tagged
                else "its hello has a tag, and this node has no mission key"
            )
        if is_tagged and not self._authenticator.verifies_hello(
            hello[:-TAG_BYTES], hello[-TAG_BYTES:], origin
        ):
            return "the tag of its hello was not made with this node's mission key"
        if _session_in(hello) == 0:
            return "its hello names no session"
        if origin not in self._peers and len(self._peers) - len(self._listed) >= MOST_LEARNT:
            return f"{MOST_LEARNT:,} others are known already"
        return None

    def forget(self, node: int, why: str) -> None:
        """Forget where a peer is, which closes a contact with it. An unknown peer is ignored."""
        peer = self._peers.pop(node, None)
        if peer is not None:
            del self._nodes[peer.address]
            self._close(node, peer, why)

    def _close(self, node: int, peer: _Peer, why: str) -> None:
        if peer.is_open:
            peer.is_open = False
            self._changes.append(ContactChange(node, peer.address, why))

    def silent(self, now_ms: int) -> tuple[list[int], list[int]]:
        """Return the peers to be greeted again (listed ones, and those whose beacons come), and the others
        that are gone and forgotten now.
        """
        peers = self._peers
        gone = [node for node in sorted(peers) if self._is_gone(node, peers[node], now_ms)]
        greeted = [
            node
            for node in sorted(peers)
            if (node in self._listed or peers[node].beacon_ms is not None)
            and node not in gone
            and peers[node].silence_ms(now_ms) >= peers[node].patience_ms
        ]
        longest_ms = max(self._silence_ms, LONGEST_SILENCE_MS)
        for node in greeted:
            peer = peers[node]
            if not peer.is_heard:
                self._close(node, peer, f"no answer for {peer.patience_ms / 1000:g} s")
            is_slow = peer.is_heard and not peer.has_spoken
            peer.patience_ms = min(2 * peer.patience_ms, longest_ms) if is_slow else self._silence_ms
            peer.quiet_since_ms = now_ms
            peer.is_heard = peer.has_spoken = False
        for node in gone:
            self.forget(node, self._why_gone(peers[node], now_ms))
            self._voices.pop(node, None)
        return greeted, gone

    @staticmethod
    def _why_gone(peer: _Peer, now_ms: int) -> str:
        if peer.beacon_ms is None:
            return f"silent for {peer.silence_ms(now_ms) / 1000:g} s"
        return f"no beacon for {(now_ms - peer.beacon_ms) / 1000:g} s"

    def _is_gone(self, node: int, peer: _Peer, now_ms: int) -> bool:
        if node in self._listed:
            return False
        if peer.beacon_ms is None:
            return peer.silence_ms(now_ms) >= max(3 * self._silence_ms, GONE_MS)
        peer.beacon_ms = min(peer.beacon_ms, now_ms)  # A clock that was put back begins to count again.
        return now_ms - peer.beacon_ms >= peer.missed_ms


def _unread(data: bytes) -> Heard:
    """Return why nothing can be made of what a stranger sends."""
    version = other_version(data)
    if version is None:
        return Heard(None, why="what it sends is no message of DENS")
    why = f"it speaks version {version} of the protocol, and this node {VERSION}"
    return Heard(None, why=why, advice=UPDATE_ADVICE)


def _session_in(hello: bytes) -> int:
    """Return the session number of a hello, or 0 where it has none."""
    end = len(hello) - (TAG_BYTES if hello[0] & TAGGED else 0)
    return _session_of(hello[ENVELOPE_BYTES:end])


def _session_of(payload: bytes) -> int:
    try:
        return Hello.decode(payload).session
    except RemoteProtocolError:
        return 0
