"""How likely a node is to meet another one, learnt from meetings (PRoPHET, RFC 6693 §2.1).

A predictability lies between 0 and 65536 (= 1). Meeting raises it towards 1, time lowers it, and a peer that
is likely to meet somebody makes it more likely here too:

    meeting b:        P(b) ← P(b) + (1 − P(b)) · encounter
    each time unit:   P(x) ← P(x) · ageing
    through b:        P(c) ← max(P(c), P(b) · P_b(c) · transitivity)

RFC 6693 §3.3 calls the three P_encounter, gamma and beta. All of it is integer arithmetic, so that every
machine decides alike. What a node tells its peers are its
largest values, six bytes each: node (4) and predictability (2).
"""

from collections.abc import Collection
from struct import Struct, error
from typing import Final

from dens.overlay.policies.kind import Parameter
from dens.overlay.wire.codes import LAST_NODE

ONE: Final = 65_536
_ENTRY: Final = Struct(">IH")
_KEPT_ENTRY: Final = Struct(">IIq")
TOLD: Final = 256
"""So many values are told to a peer."""
KEPT: Final = 1_024
"""So many values are kept."""
PEERS: Final = 64
"""What so many peers told is remembered, the last ones."""


PARAMETERS: Final = (
    Parameter("unit_s", 30, 1, 86_400, "seconds of a time unit, after each of which predictabilities fade"),
    Parameter("encounter_percent", 50, 1, 100, "how far a meeting raises a predictability towards 1"),
    Parameter("ageing_percent", 98, 0, 100, "what is left of a predictability after a time unit"),
    Parameter("transitivity_percent", 90, 0, 100, "how much what a peer may meet counts here"),
)
"""What policies that learn from encounters let people set."""


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

    __slots__ = ("_ageing", "_encounter", "_told", "_transitivity", "_unit_ms", "_values")

    def __init__(
        self, *, unit_s: int, encounter_percent: int, ageing_percent: int, transitivity_percent: int
    ) -> None:
        self._unit_ms = 1_000 * unit_s
        self._encounter = ONE * encounter_percent // 100
        self._ageing = ONE * ageing_percent // 100
        self._transitivity = ONE * transitivity_percent // 100
        self._values: dict[int, tuple[int, int]] = {}
        self._told: dict[int, dict[int, int]] = {}

    def likelihood(self, node: int, now_ms: int) -> int:
        """Return how likely this node is to meet that one, 65536 = surely."""
        known = self._values.get(node)
        if known is None:
            return 0
        return _faded(known[0], max(0, now_ms - known[1]) // self._unit_ms, self._ageing)

    def met(self, node: int, now_ms: int) -> None:
        """Learn that the two have met."""
        value = self.likelihood(node, now_ms)
        self._raise(node, value + (ONE - value) * self._encounter // ONE, now_ms)

    def heard(self, peer: int, note: bytes, own: int, now_ms: int, hosts: Collection[int] = ()) -> None:
        """Take what a peer tells, except about the node `own`; a note that is none tells nothing.

        The ends that the peer hosts are met with it, and it surely meets them.
        """
        try:
            told = dict(_ENTRY.iter_unpack(note))
        except error:
            told = {}
        if any(node > LAST_NODE for node in told):
            told = {}
        for end in hosts:
            self.met(end, now_ms)
            told[end] = ONE
        self._told.pop(peer, None)
        self._told[peer] = told
        if len(self._told) > PEERS:
            del self._told[next(iter(self._told))]
        through = self.likelihood(peer, now_ms) * self._transitivity // ONE
        for other, value in sorted(told.items()):
            if other != own:
                likely = through * value // ONE
                if likely > self.likelihood(other, now_ms):
                    self._raise(other, likely, now_ms)

    def likelihood_of_peer(self, peer: int, node: int) -> int:
        """Return how likely a peer said it is to meet that node, when it was last met."""
        return self._told.get(peer, {}).get(node, 0)

    def tell(self, now_ms: int) -> bytes:
        """Return the largest values for a peer."""
        values = [(-self.likelihood(node, now_ms), node) for node in self._values]
        return b"".join(
            _ENTRY.pack(node, min(-negative, ONE - 1)) for negative, node in sorted(values)[:TOLD] if negative
        )

    def state(self) -> bytes:
        """Return the predictabilities: node (4), value (4), when it last rose (8) of each. What peers told is
        not kept: they tell it again when they are met.
        """
        return b"".join([_KEPT_ENTRY.pack(node, *known) for node, known in self._values.items()])

    def restore(self, state: bytes) -> None:
        """Take up predictabilities; bytes that are not `state` of such an object are ignored."""
        if len(state) % _KEPT_ENTRY.size or len(state) > KEPT * _KEPT_ENTRY.size:
            return
        for node, value, since_ms in _KEPT_ENTRY.iter_unpack(state):
            if node <= LAST_NODE and value <= ONE:
                self._values[node] = (value, since_ms)

    def _raise(self, node: int, value: int, now_ms: int) -> None:
        self._values[node] = (value, now_ms)
        if len(self._values) > KEPT:
            least = min(self._values, key=lambda known: (self.likelihood(known, now_ms), known))
            del self._values[least]
