"""Epidemic replay: every node gives each node it meets the messages that it lacks.

The messages of a node are one integer with a bit for each message, the oldest lowest, so that the missing
ones are found by one operation. There are two kinds of links:

- *ideal*: a transfer takes no time, so a message floods a whole connected component at once;
- *limited*: all transfers take the same time, and a node takes part in one at a time. Messages for the peer
  go first, then the oldest. A transfer that is incomplete when the contact ends is lost.

At equal times, creations come first, then ends of transfers, then changes of contacts: in the order of the
lines of a recording, as in The ONE's replay; for computed contacts, those that begin before those that end.
Destinations relay like other nodes. Relays count every completed transfer, deliveries included.
"""

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Final

from emulation.contacts.contact import Contacts
from emulation.contacts.formats.recording import changes_of
from emulation.replay.messages import Message

_CREATED: Final = 0
_EXPIRED: Final = 1
_ARRIVED: Final = 2
_CHANGED: Final = 3


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The result of a replay. `delivered_ms` has the delivery time of each message, or None."""

    created: int
    relays: int
    hops: tuple[int, ...]
    latencies_s: tuple[float, ...]
    delivered_ms: tuple[float | None, ...]

    @property
    def delivered(self) -> int:
        """Return the number of delivered messages."""
        return len(self.latencies_s)

    def as_document(self) -> dict[str, Any]:
        """Return the figures by which simulators are compared; means are None without deliveries."""
        return {
            "created": self.created,
            "delivered": self.delivered,
            "latency_mean_s": fmean(self.latencies_s) if self.latencies_s else None,
            "latency_median_s": median(self.latencies_s) if self.latencies_s else None,
            "relays": self.relays,
            "hops_mean": fmean(self.hops) if self.hops else None,
        }


def replay(
    contacts: Contacts,
    messages: Sequence[Message],
    transfer_s: float | None = None,
    ttl_s: float | None = None,
) -> ReplayResult:
    """Carry the messages over the contacts; without `transfer_s` transfers take no time."""
    epidemic = _Ideal(messages) if transfer_s is None else _Limited(messages, transfer_s * 1000.0)
    events: list[tuple[float, int, int]] = []
    for index, message in enumerate(messages):
        events.append((message.created_ms, _CREATED, index))
        if ttl_s is not None:
            events.append((message.created_ms + ttl_s * 1000.0, _EXPIRED, index))
    changes = changes_of(contacts)
    events.extend((change[0], _CHANGED, index) for index, change in enumerate(changes))
    events.sort()
    for at_ms, kind, index in events:
        epidemic.catch_up(at_ms, kind)
        if kind == _CREATED:
            epidemic.created(index, at_ms)
        elif kind == _EXPIRED:
            epidemic.alive &= ~(1 << index)
        else:
            _, is_down, a, b = changes[index]
            (epidemic.down if is_down else epidemic.up)(a, b, at_ms)
    return epidemic.result()


class _Epidemic:
    """The part common to both kinds of links: messages of each node, and deliveries."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        nodes = {node for message in messages for node in (message.source, message.destination)}
        self.have: dict[int, int] = dict.fromkeys(sorted(nodes), 0)
        self.wanted: dict[int, int] = {}
        self.hops: dict[int, bytearray] = {}
        self.near: dict[int, dict[int, None]] = {}
        self.alive = 0
        self.relays = 0
        self.delivered_ms: list[float | None] = [None] * len(messages)
        self.delivered_hops: list[int] = []
        for index, message in enumerate(messages):
            self.wanted[message.destination] = self.wanted.get(message.destination, 0) | 1 << index

    def catch_up(self, at_ms: float, kind: int) -> None:
        """Complete the transfers that are due before this event."""

    def created(self, index: int, at_ms: float) -> None:
        """Give a new message to its source."""
        source = self.messages[index].source
        self.alive |= 1 << index
        self.have[source] = self.have.get(source, 0) | 1 << index
        self._hops_of(source)[index] = 0

    def up(self, a: int, b: int, at_ms: float) -> None:
        """Open a contact."""
        for node, peer in ((a, b), (b, a)):
            self.have.setdefault(node, 0)
            self.near.setdefault(node, {})[peer] = None

    def down(self, a: int, b: int, at_ms: float) -> None:
        """Close a contact."""
        self.near[a].pop(b, None)
        self.near[b].pop(a, None)

    def hand_over(self, giver: int, taker: int, bits: int, at_ms: float) -> None:
        """Give these messages to the taker."""
        self.have[taker] |= bits
        self.relays += bits.bit_count()
        given, taken = self._hops_of(giver), self._hops_of(taker)
        mine = bits & self.wanted.get(taker, 0)
        while bits:
            lowest = bits & -bits
            index = lowest.bit_length() - 1
            taken[index] = min(255, given[index] + 1)
            if mine & lowest:
                self.delivered_ms[index] = at_ms
                self.delivered_hops.append(taken[index])
            bits ^= lowest

    def result(self) -> ReplayResult:
        """Return the result of the replay."""
        latencies = [
            (at_ms - message.created_ms) / 1000.0
            for at_ms, message in zip(self.delivered_ms, self.messages, strict=True)
            if at_ms is not None
        ]
        return ReplayResult(
            len(self.messages),
            self.relays,
            tuple(self.delivered_hops),
            tuple(latencies),
            tuple(self.delivered_ms),
        )

    def _hops_of(self, node: int) -> bytearray:
        if node not in self.hops:
            self.hops[node] = bytearray(len(self.messages))
        return self.hops[node]


class _Ideal(_Epidemic):
    """Transfers take no time: all nodes of a component have the same messages."""

    def created(self, index: int, at_ms: float) -> None:
        super().created(index, at_ms)
        self._flood([(self.messages[index].source, 1 << index)], at_ms)

    def up(self, a: int, b: int, at_ms: float) -> None:
        super().up(a, b, at_ms)
        self._flood([(a, self.have[a] & self.alive), (b, self.have[b] & self.alive)], at_ms)

    def _flood(self, news: list[tuple[int, int]], at_ms: float) -> None:
        waiting = deque(news)
        while waiting:
            node, bits = waiting.popleft()
            for peer in self.near.get(node, ()):
                lacking = bits & ~self.have[peer]
                if lacking:
                    self.hand_over(node, peer, lacking, at_ms)
                    waiting.append((peer, lacking))


class _Limited(_Epidemic):
    """Transfers take time, and a node takes part in one at a time."""

    def __init__(self, messages: Sequence[Message], transfer_ms: float) -> None:
        super().__init__(messages)
        self._transfer_ms = transfer_ms
        self._busy: dict[int, int] = {}
        """node → number of the transfer it takes part in"""
        self._transfers: dict[int, tuple[int, int, int]] = {}
        """number → giver, taker, bit"""
        self._ends: list[tuple[float, int]] = []
        self._count = 0

    def catch_up(self, at_ms: float, kind: int) -> None:
        while self._ends and (self._ends[0][0], _ARRIVED) < (at_ms, kind):
            end_ms, number = heapq.heappop(self._ends)
            transfer = self._transfers.pop(number, None)
            if transfer is None:
                continue  # Its contact ended before.
            giver, taker, bit = transfer
            del self._busy[giver], self._busy[taker]
            if bit & self.alive and not bit & self.have[taker]:
                self.hand_over(giver, taker, bit, end_ms)
            self._begin_at(giver, end_ms)
            self._begin_at(taker, end_ms)

    def created(self, index: int, at_ms: float) -> None:
        super().created(index, at_ms)
        self._begin_at(self.messages[index].source, at_ms)

    def up(self, a: int, b: int, at_ms: float) -> None:
        super().up(a, b, at_ms)
        if a not in self._busy and b not in self._busy:
            self._begin(a, b, at_ms)

    def down(self, a: int, b: int, at_ms: float) -> None:
        super().down(a, b, at_ms)
        number = self._busy.get(a)
        if number is not None and self._busy.get(b) == number:
            del self._transfers[number], self._busy[a], self._busy[b]
            self._begin_at(a, at_ms)
            self._begin_at(b, at_ms)

    def result(self) -> ReplayResult:
        self.catch_up(float("inf"), _CREATED)
        return super().result()

    def _begin_at(self, node: int, at_ms: float) -> None:
        """Start a transfer of a free node with a free neighbour, preferably to a destination."""
        if node in self._busy:
            return
        best: tuple[bool, int, int, int] | None = None
        for peer in self.near.get(node, ()):
            if peer in self._busy:
                continue
            for giver, taker in ((node, peer), (peer, node)):
                choice = self._choice(giver, taker)
                if choice is not None and (best is None or (choice[0], choice[1]) < best[:2]):
                    best = (*choice, giver, taker)
        if best is not None:
            self._start(best[2], best[3], best[1], at_ms)

    def _begin(self, a: int, b: int, at_ms: float) -> None:
        choices = [(self._choice(giver, taker), giver, taker) for giver, taker in ((a, b), (b, a))]
        possible = [(*choice, giver, taker) for choice, giver, taker in choices if choice is not None]
        if possible:
            _, bit, giver, taker = min(possible)
            self._start(giver, taker, bit, at_ms)

    def _choice(self, giver: int, taker: int) -> tuple[bool, int] | None:
        """Return (whether it is not for the taker, the oldest such message), or None if the taker lacks
        none.
        """
        lacking = self.have[giver] & self.alive & ~self.have[taker]
        if not lacking:
            return None
        for_taker = lacking & self.wanted.get(taker, 0)
        chosen = for_taker or lacking
        return not for_taker, chosen & -chosen

    def _start(self, giver: int, taker: int, bit: int, at_ms: float) -> None:
        self._count += 1
        self._busy[giver] = self._busy[taker] = self._count
        self._transfers[self._count] = (giver, taker, bit)
        heapq.heappush(self._ends, (at_ms + self._transfer_ms, self._count))
