"""Maps addresses to peers, for links without contacts of their own, such as UDP.

Listed peers have a fixed address. Others are learnt from their hello, which has to verify if there is a
mission key. A source address proves nothing, because it can be forged: no state changes before the tag of a
datagram has verified. `sender_of` looks up the peer at an address, the engine verifies the datagram, and only
a datagram that verifies and is new in this contact counts as a sign of life (`was_heard`).

A hello is not bound to a contact, so a recorded one verifies too. With a mission key therefore:
- A peer that recently sent something new is neither moved by a hello from another address nor displaced from
  its address by another node's hello.
- The hello that began the contact, or one of an earlier session, is ignored if it comes from another address.
- A peer that has sent nothing but its hello is moved at once by a hello of a newer session.

Silence is measured without greetings (hellos and summaries, which are repeated until they are answered). A
peer that sends only greetings has not received ours, and is greeted again, each time after twice the wait,
because it may be slow. A listed peer that sends nothing at all is out of reach. It is greeted at a constant
rate, so that a short contact is not missed.

A contact is open from the first sign of life until a greeting stays unanswered or the peer is forgotten
(`contact_changes`).

A restarted node greets from another address, and its old address falls silent. If both addresses are active
afterwards, two nodes share a number (`Rival`).

Neighbours can also be found by beacons (dens/node/links/discovery.py). While beacons arrive they are greeted
like listed peers; when beacons and all other datagrams stop, they are forgotten.
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
"""Limit of peers that are not listed."""
LOYAL_MS: Final = 10_000
"""An authenticated peer keeps its address for this time after its last sign of life."""
LONGEST_SILENCE_MS: Final = 30_000
"""Longest interval between greetings of a listed peer, unless `silence_s` is longer."""
GONE_MS: Final = 90_000
"""Least silence after which a learnt peer is forgotten. An idle peer greets every 30 s."""
MISSED: Final = 5
"""Beacon periods without any datagram after which a discovered neighbour is forgotten."""
LEAST_MISSED_MS: Final = 5_000
"""Lower bound of that time."""
RIVAL_MS: Final = 60_000
"""A number used at one address, then at another, and within this time at the first again belongs to two
nodes."""
_GREETINGS: Final = frozenset({MessageType.HELLO, MessageType.SUMMARY})


def format_address(address: Address) -> str:
    """Return an address as it is written in files and messages.

    >>> format_address(("::1", 7001)), format_address(("127.0.0.1", 7001))
    ('[::1]:7001', '127.0.0.1:7001')
    """
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Rival(NamedTuple):
    """Another active node with the same number."""

    node: int
    place: Address


class ContactChange(NamedTuple):
    """A contact that opened or closed."""

    node: int
    place: Address
    reason: str | None
    """Why it closed; None if it opened."""


class Sender(NamedTuple):
    """The presumed sender of a datagram, by its address."""

    node: int | None
    """None if the datagram is to be ignored."""
    is_new: bool = False
    """Whether a contact begins with it."""
    why: str = ""
    """Why it is ignored."""
    advice: str = ""
    """What to do about it; report it once per address."""
    rival: Rival | None = None
    """Another node with its number; reported once per pair of addresses."""


@dataclass(slots=True)
class _Peer:
    """State of one peer on this link."""

    address: Address
    quiet_since_ms: int
    """Time of the last datagram that was not a greeting; else of our own greeting, or of the start."""
    patience_ms: int
    """Silence after which a listed peer is greeted again."""
    session: int = 0
    """The latest session of its greetings."""
    is_proven: bool = False
    """Whether it has sent anything that cannot be a recording."""
    beacon_ms: int | None = None
    """Time of its last beacon or other new datagram; None if it was not found by beacons."""
    missed_ms: int = 0
    """Time without beacons after which it is forgotten."""
    is_open: bool = False
    """Whether the contact is open: it was heard, and answered the last greeting."""
    is_heard: bool = False
    """Whether any datagram arrived since it was greeted."""
    has_spoken: bool = False
    """Whether a datagram other than a greeting arrived since it was greeted."""

    def silence_ms(self, now_ms: int) -> int:
        """Return the duration of its silence. It starts again if the clock was put back."""
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
        self._places: dict[int, tuple[Address, Address | None, int]] = {}
        """Per peer: the latest address, the one before it, and since when it has used the latest."""
        self._reported_rivals: set[frozenset[Address]] = set()
        self._changes: list[ContactChange] = []

    def contact_changes(self) -> list[ContactChange]:
        """Return the contacts that opened and closed since the last call."""
        changes, self._changes = self._changes, []
        return changes

    def __len__(self) -> int:
        """Return how many peers are known."""
        return len(self._peers)

    def address_of(self, node: int) -> Address | None:
        """Return the latest address of a peer, or None."""
        peer = self._peers.get(node)
        return None if peer is None else peer.address

    def sender_of(self, data: bytes, address: Address, now_ms: int) -> Sender:
        """Return the presumed sender, or why the datagram is ignored.

        The only datagram that changes state is a hello that verifies, from an address without a known peer.
        """
        known = self._nodes.get(address)
        envelope = peek(data)
        if envelope is None:
            return Sender(known) if known is not None else _unreadable(data)
        kind, _, origin, *_ = envelope
        if known is not None and (kind != HELLO or origin == known or known in self._listed):
            return Sender(known)
        if kind != HELLO:
            return Sender(None, why="it has not sent a hello yet")
        why = self._rejection(origin, data)
        if why is not None:
            return Sender(None, why=why)
        return self._on_hello(origin, _session_in(data), known, address, now_ms)

    def was_heard(self, node: int, data: bytes, address: Address, now_ms: int) -> Rival | None:
        """Note a datagram that the engine has verified as new. Return a rival when it shows for the first
        time.
        """
        peer, envelope = self._peers.get(node), peek(data)
        if peer is None or envelope is None:
            return None
        peer.is_heard = True
        if envelope[0] in _GREETINGS:
            hello = data[ENVELOPE_BYTES : ENVELOPE_BYTES + HELLO_BYTES]
            peer.session = max(peer.session, _session_of(hello))
        if not peer.is_open:
            peer.is_open = True
            self._changes.append(ContactChange(node, peer.address, None))
        if peer.beacon_ms is not None:
            peer.beacon_ms = now_ms
        if envelope[0] not in _GREETINGS:
            peer.quiet_since_ms = now_ms
            peer.patience_ms = self._silence_ms
            peer.is_proven = peer.has_spoken = True
        return self._rival(node, address, now_ms)

    def discovered(self, node: int, address: Address, period_ms: int, now_ms: int) -> bool:
        """Process a beacon that verifies and is new; return whether its node is to be greeted.

        Listed peers, an active peer at that address, and a peer recently active elsewhere take precedence.
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
            self._places.pop(there, None)
        self.forget(node, f"its beacons come from {format_address(address)}")
        self._peers[node] = _Peer(address, now_ms, self._silence_ms, beacon_ms=now_ms, missed_ms=missed_ms)
        self._nodes[address] = node
        return True

    def _on_hello(
        self, origin: int, session: int, known: int | None, address: Address, now_ms: int
    ) -> Sender:
        """Process a hello that verifies, from a new address of its peer; `known` is the peer there so far."""
        peer = self._peers.get(origin)
        if self._authenticator.tag_bytes:
            if peer is not None and session == peer.session:
                at = format_address(peer.address)
                why = f"it repeats the hello that node {origin} sent from {at}, so it may be a recording"
                return Sender(None, why=why)
            if known is not None and self._is_loyal(self._peers[known], now_ms):
                why = f"it claims to be node {origin}, but node {known} is active at this address"
                return Sender(None, why=why)
        rival = self._rival(origin, address, now_ms)
        if self._authenticator.tag_bytes and peer is not None and not self._may_move(peer, session, now_ms):
            at = format_address(peer.address)
            why = (
                f"it claims to be node {origin}, which is active at {at}; it is accepted when that address "
                f"has been silent for {LOYAL_MS // 1000} s"
            )
            if session < peer.session:
                why = f"its session is older than that of node {origin} at {at}, so it may be a recording"
            return Sender(None, why=why, rival=rival)
        if known is not None:
            self.forget(known, f"node {origin} is at its address")
            self._places.pop(known, None)
        self.forget(origin, f"it greets from {format_address(address)}")
        self._peers[origin] = _Peer(address, now_ms, self._silence_ms, session)
        self._nodes[address] = origin
        return Sender(origin, is_new=True, rival=rival)

    def _is_loyal(self, peer: _Peer, now_ms: int) -> bool:
        return peer.is_proven and peer.silence_ms(now_ms) < LOYAL_MS

    def _may_move(self, peer: _Peer, session: int, now_ms: int) -> bool:
        """Return whether a hello from another address may move this peer. Sessions rise with restarts."""
        if session < peer.session:
            return False
        if peer.silence_ms(now_ms) >= LOYAL_MS:
            return True
        return not peer.is_proven and session > peer.session

    def _rival(self, node: int, here: Address, now_ms: int) -> Rival | None:
        """Return another active node with this number, when it shows for the first time."""
        last, before, since_ms = self._places.get(node, (here, None, now_ms))
        if here == last:
            self._places[node] = here, before, since_ms
            return None
        self._places[node] = here, last, now_ms
        pair = frozenset((here, last))
        if here != before or now_ms - since_ms >= RIVAL_MS or pair in self._reported_rivals:
            return None
        if len(self._reported_rivals) >= MOST_LEARNT:
            return None
        self._reported_rivals.add(pair)
        return Rival(node, last)

    def _rejection(self, origin: int, hello: bytes) -> str | None:
        """Return why the sender of this hello is not learnt as a peer, or None."""
        if origin == self._authenticator.node:
            return f"it claims to be node {origin}, which is this node's own number"
        if origin in self._listed:
            at = format_address(self._peers[origin].address)
            return f"it claims to be node {origin}, which the node's file lists at {at}"
        if not self._accepts_others:
            return "it is not a listed peer, and accept_others is false"
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
            return "its hello was authenticated with another mission key"
        if _session_in(hello) == 0:
            return "its hello names no session"
        if origin not in self._peers and len(self._peers) - len(self._listed) >= MOST_LEARNT:
            return f"the limit of {MOST_LEARNT:,} learnt peers is reached"
        return None

    def forget(self, node: int, why: str) -> None:
        """Forget a peer, which closes its contact. An unknown peer is ignored."""
        peer = self._peers.pop(node, None)
        if peer is not None:
            del self._nodes[peer.address]
            self._close(node, peer, why)

    def _close(self, node: int, peer: _Peer, why: str) -> None:
        if peer.is_open:
            peer.is_open = False
            self._changes.append(ContactChange(node, peer.address, why))

    def silent(self, now_ms: int) -> tuple[list[int], list[int]]:
        """Return the silent peers to greet again (listed and discovered ones), and those forgotten now."""
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
            self._places.pop(node, None)
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
        peer.beacon_ms = min(peer.beacon_ms, now_ms)  # the clock may have been put back
        return now_ms - peer.beacon_ms >= peer.missed_ms


def _unreadable(data: bytes) -> Sender:
    """Return why a datagram of an unknown sender cannot be read."""
    version = other_version(data)
    if version is None:
        return Sender(None, why="its datagrams are not DENS messages")
    why = f"it uses version {version} of the protocol, and this node {VERSION}"
    return Sender(None, why=why, advice=UPDATE_ADVICE)


def _session_in(hello: bytes) -> int:
    """Return the session number of a hello, 0 if it has none."""
    end = len(hello) - (TAG_BYTES if hello[0] & TAGGED else 0)
    return _session_of(hello[ENVELOPE_BYTES:end])


def _session_of(payload: bytes) -> int:
    try:
        return Hello.decode(payload).session
    except RemoteProtocolError:
        return 0
