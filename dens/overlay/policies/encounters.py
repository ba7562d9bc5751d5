"""Delivery predictabilities: how likely a node is to meet another, learnt from contacts (PRoPHET, RFC 6693
§2.1).

A predictability lies between 0 and 65536 (= 1). A contact raises it towards 1, time lowers it, and a peer
that is likely to meet a node raises it for this node too:

    meeting b:        P(b) ← P(b) + (1 − P(b)) · encounter
    each time unit:   P(x) ← P(x) · ageing
    through b:        P(c) ← max(P(c), P(b) · P_b(c) · transitivity)

RFC 6693 §3.3 calls the three P_encounter, gamma and beta. Integer arithmetic throughout, so that every
machine decides alike. A node sends its peers its largest values, six bytes each: node (4) and predictability
(2).
"""

from collections.abc import Collection
from struct import Struct, error
from typing import ClassVar, Final

from dens.overlay.policies.kind import Parameter
from dens.overlay.wire.codes import LAST_NODE

ONE: Final = 65_536
_ENTRY: Final = Struct(">IH")
_STATE_ENTRY: Final = Struct(">IIq")
_NOTE_ENTRIES_MAX: Final = 256
"""Values sent to a peer."""
_NODES_MAX: Final = 1_024
"""Nodes whose predictability is kept."""
_PEERS_MAX: Final = 64
"""Peers whose last note is remembered."""

PARAMETERS: Final = (
    Parameter("unit_s", 30, 1, 86_400, "seconds of a time unit, after each of which predictabilities fade"),
    Parameter("encounter_percent", 50, 1, 100, "how far a meeting raises a predictability towards 1"),
    Parameter("ageing_percent", 98, 0, 100, "what is left of a predictability after a time unit"),
    Parameter("transitivity_percent", 90, 0, 100, "how much what a peer may meet counts here"),
)
"""Parameters of every policy that learns from encounters."""


def _faded(value: int, units: int, power: int) -> int:
    factor = ONE
    while units and factor:
        if units & 1:
            factor = factor * power // ONE
        power = power * power // ONE
        units >>= 1
    return value * factor // ONE


class Encounters:
    """Predictabilities of one node.

    >>> encounters = Encounters(unit_s=30, encounter_percent=50, ageing_percent=98, transitivity_percent=90)
    >>> encounters.met(7, 0)
    >>> encounters.likelihood(7, 0), encounters.likelihood(7, 3_000_000), encounters.likelihood(8, 0)
    (32768, 4340, 0)
    """

    __slots__ = ("_ageing", "_encounter", "_peer_values", "_transitivity", "_unit_ms", "_values")

    def __init__(
        self, *, unit_s: int, encounter_percent: int, ageing_percent: int, transitivity_percent: int
    ) -> None:
        self._unit_ms = 1_000 * unit_s
        self._encounter = ONE * encounter_percent // 100
        self._ageing = ONE * ageing_percent // 100
        self._transitivity = ONE * transitivity_percent // 100
        self._values: dict[int, tuple[int, int]] = {}
        self._peer_values: dict[int, dict[int, int]] = {}

    def likelihood(self, node: int, now_ms: int) -> int:
        """Return the predictability of meeting this node; 65536 is certainty."""
        known = self._values.get(node)
        if known is None:
            return 0
        return _faded(known[0], max(0, now_ms - known[1]) // self._unit_ms, self._ageing)

    def met(self, node: int, now_ms: int) -> None:
        """Record a contact with this node."""
        value = self.likelihood(node, now_ms)
        self._raise(node, value + (ONE - value) * self._encounter // ONE, now_ms)

    def on_note(self, peer: int, note: bytes, own: int, now_ms: int, hosts: Collection[int] = ()) -> None:
        """Apply a peer's note, except what it states about the node `own`; an invalid note counts as empty.

        The endpoints that the peer hosts are met with it, and the peer meets them with certainty.
        """
        try:
            values = dict(_ENTRY.iter_unpack(note))
        except error:
            values = {}
        if any(node > LAST_NODE for node in values):
            values = {}
        for endpoint in hosts:
            self.met(endpoint, now_ms)
            values[endpoint] = ONE
        self._peer_values.pop(peer, None)
        self._peer_values[peer] = values
        if len(self._peer_values) > _PEERS_MAX:
            del self._peer_values[next(iter(self._peer_values))]
        through = self.likelihood(peer, now_ms) * self._transitivity // ONE
        for other, value in sorted(values.items()):
            if other != own:
                likely = through * value // ONE
                if likely > self.likelihood(other, now_ms):
                    self._raise(other, likely, now_ms)

    def likelihood_of_peer(self, peer: int, node: int) -> int:
        """Return the predictability with which a peer meets this node, as of the peer's last note."""
        return self._peer_values.get(peer, {}).get(node, 0)

    def encode_note(self, now_ms: int) -> bytes:
        """Return the largest values, for a peer."""
        values = [(-self.likelihood(node, now_ms), node) for node in self._values]
        return b"".join(
            _ENTRY.pack(node, min(-negative, ONE - 1))
            for negative, node in sorted(values)[:_NOTE_ENTRIES_MAX]
            if negative
        )

    def state(self) -> bytes:
        """Return the predictabilities: node (4), value (4) and the time of its last rise (8) each. Notes of
        peers are not stored: a peer sends its note again at the next contact.
        """
        return b"".join([_STATE_ENTRY.pack(node, *known) for node, known in self._values.items()])

    def restore(self, state: bytes) -> None:
        """Load predictabilities; bytes that `state` did not make are ignored."""
        if len(state) % _STATE_ENTRY.size or len(state) > _NODES_MAX * _STATE_ENTRY.size:
            return
        for node, value, since_ms in _STATE_ENTRY.iter_unpack(state):
            if node <= LAST_NODE and value <= ONE:
                self._values[node] = (value, since_ms)

    def _raise(self, node: int, value: int, now_ms: int) -> None:
        self._values[node] = (value, now_ms)
        if len(self._values) > _NODES_MAX:
            least = min(self._values, key=lambda known: (self.likelihood(known, now_ms), known))
            del self._values[least]


class EncounterPolicy:
    """Base of policies that decide by predictabilities: it exchanges, learns and stores them."""

    asks_who_is_owed: ClassVar[bool] = True
    shares_everything: ClassVar[bool] = False

    def __init__(self, node: int, encounters: Encounters) -> None:
        self._node = node
        self._encounters = encounters

    def note(self, now_ms: int) -> bytes:
        """Return this node's predictabilities."""
        return self._encounters.encode_note(now_ms)

    def met(
        self, peer: int, is_mediator: bool, note: bytes, now_ms: int, hosts: Collection[int] = ()
    ) -> None:
        """Learn from the contact and from the peer's note."""
        self._encounters.met(peer, now_ms)
        if is_mediator:
            self._encounters.on_note(peer, note, self._node, now_ms, hosts)

    def state(self) -> bytes:
        """Return the predictabilities, for the store."""
        return self._encounters.state()

    def restore(self, state: bytes) -> None:
        """Load the predictabilities of an earlier run of this node."""
        self._encounters.restore(state)

    def _is_likelier(self, peer: int, subscribers: Collection[int], margin: int, now_ms: int) -> bool:
        """Return whether a peer is likelier than this node, by more than a margin, to meet one of these."""
        known = self._encounters
        for subscriber in subscribers:
            if known.likelihood_of_peer(peer, subscriber) > known.likelihood(subscriber, now_ms) + margin:
                return True
        return False
