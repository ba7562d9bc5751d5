"""The air between nodes: frames take time, can be lost, and are cut when the contact ends.

A link exists while two nodes are in contact. Its rate is the slower radio's, its loss the worse radio's.
A node takes part in one transfer at a time, sending or receiving (half duplex); what is waiting anywhere
at a node goes in the order in which it was handed over, as far as the other end is free. A frame that is
still on the air when the contact ends is lost, and what was only waiting is forgotten: engines offer it
again at the next contact.

Time on the air is kept exactly. A frame arrives in the first whole millisecond after its last byte, so small
frames share a millisecond without being slowed down to one each.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Final, Protocol

import numpy as np

from emulation.clock import Clock, Rank

LOST_ON_AIR: Final = "radio"
CUT_OFF: Final = "contact_ended"


@dataclass(frozen=True, slots=True)
class Radio:
    """What one kind of radio can do."""

    range_m: float
    rate_bytes_per_s: float
    setup_ms: int
    loss: float


class Listener(Protocol):
    """Who hears what happens on the air."""

    def frame_sent(self, sender: int, receiver: int, data: bytes) -> None:
        """The first byte leaves."""
        ...

    def frame_received(self, sender: int, receiver: int, data: bytes) -> None:
        """The last byte is there."""
        ...

    def frame_lost(self, sender: int, receiver: int, data: bytes, reason: str) -> None:
        """It left and will not arrive."""
        ...


class _Waiting:
    """A frame from its hand-over to its end."""

    __slots__ = ("data", "order", "receiver", "sender", "since_ms")

    def __init__(self, order: int, since_ms: int, sender: int, receiver: int, data: bytes) -> None:
        self.order = order
        self.since_ms = since_ms
        self.sender = sender
        self.receiver = receiver
        self.data = data


class _Link:
    """One open contact: what waits in both directions, and what is on the air."""

    __slots__ = ("a", "b", "bytes_per_ms", "from_a", "from_b", "loss", "on_air")

    def __init__(self, a: int, b: int, bytes_per_ms: float, loss: float) -> None:
        self.a = a
        self.b = b
        self.bytes_per_ms = bytes_per_ms
        self.loss = loss
        self.from_a: deque[_Waiting] = deque()
        self.from_b: deque[_Waiting] = deque()
        self.on_air: _Waiting | None = None

    def next_frame(self) -> _Waiting | None:
        """Return what has waited longest in either direction."""
        if self.from_a and (not self.from_b or self.from_a[0].order < self.from_b[0].order):
            return self.from_a[0]
        return self.from_b[0] if self.from_b else None


class Air:
    """Carries frames between nodes that are in contact."""

    def __init__(
        self,
        clock: Clock,
        radios: Sequence[Radio],
        chances: Sequence[np.random.Generator],
        listener: Listener,
    ) -> None:
        self._clock = clock
        self._radios = radios
        self._chances = chances
        self._listener = listener
        self._links: list[dict[int, _Link]] = [{} for _ in radios]
        self._engaged = [False] * len(radios)
        self._free_ms = [0.0] * len(radios)
        self._order = 0

    def setup_ms(self, a: int, b: int) -> int:
        """Return how long two nodes in range need before they can talk."""
        return max(self._radios[a].setup_ms, self._radios[b].setup_ms)

    def open(self, a: int, b: int) -> None:
        """Let these two nodes talk."""
        one, other = self._radios[a], self._radios[b]
        rate = min(one.rate_bytes_per_s, other.rate_bytes_per_s)
        link = _Link(a, b, rate / 1000.0, max(one.loss, other.loss))
        self._links[a][b] = self._links[b][a] = link

    def close(self, a: int, b: int) -> None:
        """Cut these two off. What is on the air between them is lost, what waits is forgotten."""
        link = self._links[a].pop(b)
        del self._links[b][a]
        cut = link.on_air
        if cut is not None:
            link.on_air = None
            self._listener.frame_lost(cut.sender, cut.receiver, cut.data, CUT_OFF)
            self._release(link, float(self._clock.now_ms))

    def send(self, sender: int, receiver: int, data: bytes) -> None:
        """Hand a frame over; without a contact it is forgotten."""
        link = self._links[sender].get(receiver)
        if link is None:
            return
        self._order += 1
        frame = _Waiting(self._order, self._clock.now_ms, sender, receiver, data)
        (link.from_a if sender == link.a else link.from_b).append(frame)
        if not self._engaged[sender] and not self._engaged[receiver]:
            self._begin(link)

    def _begin(self, link: _Link) -> None:
        """Put the next frame of this link on the air; both ends are free."""
        frame = link.next_frame()
        if frame is None:
            return
        (link.from_a if frame.sender == link.a else link.from_b).popleft()
        self._engaged[link.a] = self._engaged[link.b] = True
        begin = max(frame.since_ms, self._free_ms[link.a], self._free_ms[link.b])
        end = begin + len(frame.data) / link.bytes_per_ms
        link.on_air = frame
        self._listener.frame_sent(frame.sender, frame.receiver, frame.data)
        self._clock.call_at(ceil(end), Rank.ARRIVAL, partial(self._end, link, frame, end))

    def _end(self, link: _Link, frame: _Waiting, end_ms: float) -> None:
        if link.on_air is not frame:
            return  # It was cut off before.
        link.on_air = None
        if link.loss > 0.0 and self._chances[frame.sender].random() < link.loss:
            self._listener.frame_lost(frame.sender, frame.receiver, frame.data, LOST_ON_AIR)
        else:
            self._listener.frame_received(frame.sender, frame.receiver, frame.data)
        self._release(link, end_ms)

    def _release(self, link: _Link, at_ms: float) -> None:
        """Free both ends, and let what has waited longest at either begin."""
        for node in (link.a, link.b):
            self._engaged[node] = False
            self._free_ms[node] = at_ms
        while (waiting := self._longest_waiting((link.a, link.b))) is not None:
            self._begin(waiting)

    def _longest_waiting(self, nodes: tuple[int, int]) -> _Link | None:
        """Return the link whose next frame has waited longest among those of these nodes that can begin."""
        found: _Link | None = None
        least = self._order + 1
        for node in nodes:
            if self._engaged[node]:
                continue
            for peer, link in self._links[node].items():
                frame = None if self._engaged[peer] else link.next_frame()
                if frame is not None and frame.order < least:
                    least, found = frame.order, link
        return found
