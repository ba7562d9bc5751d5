"""The air between nodes: frames take time, can be lost, and are cut when the contact ends.

A link exists while two nodes are in contact. Its rate is the slower radio's, its loss the worse radio's. A
usual radio takes part in one transfer at a time, sending or receiving (half duplex); a full-duplex one may
send and receive at once; one with many channels has a transfer with every neighbour at once. What is waiting
anywhere at a node goes in the order in which it was handed over, as far as both ends are free. A message that
is longer than the frame of the link goes in several frames, back to back, and is lost if one of them is.

A transfer that is still going on when the contact ends is lost, and what was only waiting is forgotten:
engines offer it again at the next contact. A frame that goes over several hops (`emulation.forwarding`) is
on each of them a frame as any other, longer by its header. Where radios resume, the bytes of a message that
had crossed need not cross again.

Time on the air is kept exactly. A frame arrives in the first whole millisecond after its last byte, so small
frames share a millisecond without being slowed down to one each.
"""

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
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
    frame_bytes: int = 0
    """The most that fits into a frame; 0: any message is one frame."""
    overhead_bytes: int = 0
    """What every frame has besides, on the air only."""
    half_duplex: bool = True
    many_at_once: bool = False
    """Whether there may be a transfer with every neighbour at once, rather than one in all."""
    resumes: bool = False
    """Whether a message whose transfer was cut goes on where it was, rather than from its beginning."""


class Packet:
    """What the header of a frame says that goes over several hops, and how far it has come."""

    __slots__ = ("data", "destination", "header_bytes", "hop", "number", "sent_ms", "source")

    def __init__(self, number: int, source: int, destination: int, data: bytes, header_bytes: int) -> None:
        self.number = number
        self.source = source
        self.destination = destination
        self.data = data
        self.header_bytes = header_bytes
        self.hop = 0
        """Which hop it is on, the first is 1."""
        self.sent_ms = -1
        """When its first byte left for this hop, or -1."""


class Listener(Protocol):
    """Who hears what happens on the air. A frame that goes over several hops has its packet with it.
    `octets` are the bytes on the air: those of the message, of the packet's header, and the overhead of
    every frame."""

    def frame_sent(self, sender: int, receiver: int, data: bytes, octets: int, packet: Packet | None) -> None:
        """The first byte leaves."""
        ...

    def frame_received(
        self, sender: int, receiver: int, data: bytes, octets: int, packet: Packet | None
    ) -> None:
        """The last byte is there."""
        ...

    def frame_lost(self, sender: int, receiver: int, data: bytes, reason: str, packet: Packet | None) -> None:
        """It left and will not arrive; one with a packet may not have left yet."""
        ...


class _Slot:
    """Something that one transfer at a time needs: a node's radio, or a half of it, or a channel."""

    __slots__ = ("free_ms", "lanes", "taken", "waiting")

    def __init__(self) -> None:
        self.taken = False
        self.free_ms = 0.0
        self.lanes: dict[_Lane, None] = {}
        self.waiting = 0
        """How many frames wait in those lanes."""


class _Waiting:
    """A frame from its hand-over to its end."""

    __slots__ = ("begin_ms", "crossed", "data", "octets", "on_air", "order", "packet", "since_ms", "size")

    def __init__(self, order: int, since_ms: int, data: bytes, packet: Packet | None) -> None:
        self.order = order
        self.since_ms = since_ms
        self.data = data
        self.packet = packet
        self.size = len(data) if packet is None else len(data) + packet.header_bytes
        """Bytes of the message, with the header of a packet."""
        self.on_air = self.size
        """The same with the overhead of every frame."""
        self.begin_ms = 0.0
        self.octets = 0.0
        """Bytes that this transfer puts on the air."""
        self.crossed = 0.0
        """Bytes of the message that had crossed before."""


class _Lane:
    """One direction of an open contact: what waits, and what is on the air."""

    __slots__ = ("link", "on_air", "receiver", "sender", "slots", "waiting")

    def __init__(self, link: "_Link", sender: int, receiver: int, slots: tuple[_Slot, _Slot]) -> None:
        self.link = link
        self.sender = sender
        self.receiver = receiver
        self.slots = slots
        self.waiting: deque[_Waiting] | None = None
        """None until the first has to wait: mostly none ever does."""
        self.on_air: _Waiting | None = None


class _Link:
    """One open contact."""

    __slots__ = ("bytes_per_ms", "frame_bytes", "lanes", "loss", "overhead_bytes", "resumes")

    def __init__(self, one: Radio, other: Radio) -> None:
        self.bytes_per_ms = min(one.rate_bytes_per_s, other.rate_bytes_per_s) / 1000.0
        self.loss = max(one.loss, other.loss)
        limits = [radio.frame_bytes for radio in (one, other) if radio.frame_bytes]
        self.frame_bytes = min(limits, default=0)
        self.overhead_bytes = max(one.overhead_bytes, other.overhead_bytes)
        self.resumes = one.resumes and other.resumes
        self.lanes: tuple[_Lane, ...] = ()

    def frames(self, octets: int) -> int:
        """Return how many frames a message of so many bytes takes."""
        return -(-octets // self.frame_bytes) if self.frame_bytes else 1


class Air:
    """Carries frames between nodes that are in contact. `name_of` says which message a frame carries, so that
    its transfer can be resumed."""

    def __init__(
        self,
        clock: Clock,
        radios: Sequence[Radio],
        chances: Sequence[np.random.Generator] | Mapping[int, np.random.Generator],
        listener: Listener,
        name_of: Callable[[bytes], Hashable] = bytes,
    ) -> None:
        self._clock = clock
        self._radios = list(radios)
        self._chances = chances
        self._listener = listener
        self._name_of = name_of
        self._links: list[dict[int, _Lane]] = [{} for _ in radios]
        """For every node the lanes to its neighbours."""
        self._slots = [None if radio.many_at_once else _new_slots(radio) for radio in radios]
        self._crossed: dict[tuple[int, int, Hashable], float] = {}
        self._order = 0
        self.frames_sent = 0
        """How many frames have left: a message that is longer than the frame of its link is several."""

    def radio(self, node: int) -> Radio:
        """Return what a node has."""
        return self._radios[node]

    def change(self, node: int, radio: Radio) -> None:
        """Let a node have another rate or loss from now on, also in the contacts that are open."""
        self._radios[node] = radio
        for peer, lane in self._links[node].items():
            now = _Link(radio, self._radios[peer])
            lane.link.bytes_per_ms, lane.link.loss = now.bytes_per_ms, now.loss

    def neighbours(self, node: int) -> list[int]:
        """Return with whom this node can talk now."""
        return list(self._links[node])

    def has_link(self, a: int, b: int) -> bool:
        """Return whether these two can talk now."""
        return b in self._links[a]

    def open(self, a: int, b: int) -> None:
        """Let these two nodes talk."""
        link = _Link(self._radios[a], self._radios[b])
        (a_sends, a_receives), (b_sends, b_receives) = self._slots_of(a), self._slots_of(b)
        there = _Lane(link, a, b, (a_sends, b_receives))
        back = _Lane(link, b, a, (b_sends, a_receives))
        link.lanes = (there, back)
        self._links[a][b], self._links[b][a] = there, back
        for lane in link.lanes:
            for slot in lane.slots:
                slot.lanes[lane] = None

    def close(self, a: int, b: int, reason: str = CUT_OFF) -> None:
        """Cut these two off. What is on the air between them is lost, what waits is forgotten; of a packet
        that waits it is told, because others have sent it before.
        """
        link = self._links[a].pop(b).link
        lanes, link.lanes = link.lanes, ()
        del self._links[b][a]
        for lane in lanes:
            for slot in lane.slots:
                slot.lanes.pop(lane, None)
                slot.waiting -= len(lane.waiting or ())
        for lane in lanes:
            cut = lane.on_air
            if cut is not None:
                lane.on_air = None
                self._note_crossed(lane, cut)
                self._listener.frame_lost(lane.sender, lane.receiver, cut.data, reason, cut.packet)
                self._release(lane, float(self._clock.now_ms))
            for waiting in lane.waiting or ():
                if waiting.packet is not None:
                    self._listener.frame_lost(
                        lane.sender, lane.receiver, waiting.data, reason, waiting.packet
                    )

    def send(self, sender: int, receiver: int, data: bytes, packet: Packet | None = None) -> None:
        """Hand a frame over; without a contact it is forgotten."""
        lane = self._links[sender].get(receiver)
        if lane is None:
            return
        self._order += 1
        frame = _Waiting(self._order, self._clock.now_ms, data, packet)
        one, other = lane.slots
        if one.taken or other.taken:
            if lane.waiting is None:
                lane.waiting = deque()
            lane.waiting.append(frame)
            one.waiting += 1
            other.waiting += 1
        else:
            self._begin(lane, frame)  # Else somebody who waited would have begun.

    def _slots_of(self, node: int) -> tuple[_Slot, _Slot]:
        own = self._slots[node]
        if own is None:
            return _new_slots(self._radios[node])  # A channel for this contact alone.
        return own

    def _begin(self, lane: _Lane, frame: _Waiting) -> None:
        """Put a frame of this lane on the air; what it needs is free."""
        one, other = lane.slots
        one.taken = other.taken = True
        link = lane.link
        begin_ms = one.free_ms if one.free_ms > other.free_ms else other.free_ms
        frame.begin_ms = begin_ms = frame.since_ms if frame.since_ms > begin_ms else begin_ms
        frames = link.frames(frame.size)
        self.frames_sent += frames
        frame.on_air = frame.size + link.overhead_bytes * frames
        octets = float(frame.on_air)
        if self._crossed and link.resumes:
            frame.crossed = self._crossed.pop((lane.sender, lane.receiver, self._name_of(frame.data)), 0.0)
            octets = max(0.0, octets - frame.crossed)
        frame.octets = octets
        end = begin_ms + octets / link.bytes_per_ms
        lane.on_air = frame
        self._listener.frame_sent(lane.sender, lane.receiver, frame.data, frame.on_air, frame.packet)
        self._clock.call_at(ceil(end), Rank.ARRIVAL, self._end, lane, frame, end)

    def _end(self, lane: _Lane, frame: _Waiting, end_ms: float) -> None:
        if lane.on_air is not frame:
            return  # It was cut off before.
        lane.on_air = None
        if lane.link.loss > 0.0 and self._is_lost(lane, frame.size):
            self._listener.frame_lost(lane.sender, lane.receiver, frame.data, LOST_ON_AIR, frame.packet)
        else:
            self._listener.frame_received(lane.sender, lane.receiver, frame.data, frame.on_air, frame.packet)
        self._release(lane, end_ms)

    def _is_lost(self, lane: _Lane, octets: int) -> bool:
        frames, loss = lane.link.frames(octets), lane.link.loss
        if frames > 1:
            loss = 1.0 - (1.0 - loss) ** frames
        return bool(self._chances[lane.sender].random() < loss)

    def _release(self, lane: _Lane, at_ms: float) -> None:
        """Free what the transfer needed, and let what has waited longest there begin."""
        one, other = slots = lane.slots
        one.taken = other.taken = False
        one.free_ms = other.free_ms = at_ms
        while (one.waiting or other.waiting) and (longest := self._longest_waiting(slots)) is not None:
            for slot in longest[0].slots:
                slot.waiting -= 1
            self._begin(longest[0], longest[1].popleft())

    def _longest_waiting(self, slots: tuple[_Slot, _Slot]) -> tuple[_Lane, deque[_Waiting]] | None:
        """Return the lane whose next frame has waited longest among those that need one of these slots and
        can begin, and what waits there."""
        found: tuple[_Lane, deque[_Waiting]] | None = None
        least = self._order + 1
        for slot in slots:
            if slot.taken or not slot.waiting:
                continue
            for lane in slot.lanes:
                waiting = lane.waiting
                if waiting and waiting[0].order < least:
                    one, other = lane.slots
                    if not one.taken and not other.taken:
                        least, found = waiting[0].order, (lane, waiting)
        return found

    def _note_crossed(self, lane: _Lane, cut: _Waiting) -> None:
        """Remember how much of a message is on the other side, if radios resume."""
        if lane.link.resumes:
            crossed = max(0.0, self._clock.now_ms - cut.begin_ms) * lane.link.bytes_per_ms
            name = (lane.sender, lane.receiver, self._name_of(cut.data))
            self._crossed[name] = cut.crossed + min(crossed, cut.octets)


def _new_slots(radio: Radio) -> tuple[_Slot, _Slot]:
    """Return what this radio needs to send and to receive; they are one and the same if it is half duplex."""
    sending = _Slot()
    return sending, sending if radio.half_duplex else _Slot()
