"""The radio channel between nodes: frames take time, can be lost, and are cut when the contact ends.

A link exists while two nodes are in contact. Its rate is that of the slower radio, its loss that of the worse
one. A half-duplex radio (the default) takes part in one transfer at a time, sending or receiving; a
full-duplex one may send and receive at once; one with many channels has a transfer with every neighbour at
once. Frames that wait at a node are sent in the order in which they were queued, as soon as both radios are
free. A message longer than the frame of the link is sent in several frames, back to back, and is lost if one
of them is.

A transfer that is incomplete when the contact ends is lost, and queued frames are dropped: engines offer them
again at the next contact. A multi-hop frame (`emulation.forwarding`) is an ordinary frame on each hop, longer
by its header. If radios resume, the bytes of a message that were transferred are not sent again.

Time on the air is exact. A frame arrives in the first whole millisecond after its last byte, so that several
small frames can arrive in one millisecond.
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
    """The properties of a kind of radio."""

    range_m: float
    rate_bytes_per_s: float
    setup_ms: int
    loss: float
    frame_bytes: int = 0
    """The largest payload of a frame; 0: any message is one frame."""
    overhead_bytes: int = 0
    """Additional bytes of every frame on the air."""
    half_duplex: bool = True
    many_at_once: bool = False
    """Whether there may be a transfer with every neighbour at once, rather than one in total."""
    resumes: bool = False
    """Whether a message whose transfer was cut is resumed, rather than sent again from its beginning."""


class Packet:
    """The header of a multi-hop frame and its current hop."""

    __slots__ = ("data", "destination", "header_bytes", "hop", "number", "sent_ms", "source")

    def __init__(self, number: int, source: int, destination: int, data: bytes, header_bytes: int) -> None:
        self.number = number
        self.source = source
        self.destination = destination
        self.data = data
        self.header_bytes = header_bytes
        self.hop = 0
        """The current hop, counted from 1."""
        self.sent_ms = -1
        """When its first byte left for this hop, or -1."""


class Listener(Protocol):
    """Receives the events of the channel. Multi-hop frames come with their packet. `octets` are the bytes on
    the air: the message, the header of the packet, and the overhead of every frame.
    """

    def frame_sent(self, sender: int, receiver: int, data: bytes, octets: int, packet: Packet | None) -> None:
        """The first byte of a frame left."""
        ...

    def frame_received(
        self, sender: int, receiver: int, data: bytes, octets: int, packet: Packet | None
    ) -> None:
        """The last byte of a frame arrived."""
        ...

    def frame_lost(self, sender: int, receiver: int, data: bytes, reason: str, packet: Packet | None) -> None:
        """A frame was lost on the air; one with a packet may have been lost in the queue."""
        ...


class _Slot:
    """A resource for one transfer at a time: a radio, one direction of it, or a channel."""

    __slots__ = ("free_ms", "lanes", "taken", "waiting")

    def __init__(self) -> None:
        self.taken = False
        self.free_ms = 0.0
        self.lanes: dict[_Lane, None] = {}
        self.waiting = 0
        """Frames that wait in those lanes."""


class _Waiting:
    """A queued or transmitted frame."""

    __slots__ = ("begin_ms", "crossed", "data", "octets", "on_air", "order", "packet", "since_ms", "size")

    def __init__(self, order: int, since_ms: int, data: bytes, packet: Packet | None) -> None:
        self.order = order
        self.since_ms = since_ms
        self.data = data
        self.packet = packet
        self.size = len(data) if packet is None else len(data) + packet.header_bytes
        """Bytes of the message and the header of a packet."""
        self.on_air = self.size
        """Size with the overhead of every frame."""
        self.begin_ms = 0.0
        self.octets = 0.0
        """Bytes that this transfer sends."""
        self.crossed = 0.0
        """Bytes of the message that were transferred before."""


class _Lane:
    """One direction of an open contact: its queue, and the frame on the air."""

    __slots__ = ("link", "on_air", "receiver", "sender", "slots", "waiting")

    def __init__(self, link: "_Link", sender: int, receiver: int, slots: tuple[_Slot, _Slot]) -> None:
        self.link = link
        self.sender = sender
        self.receiver = receiver
        self.slots = slots
        self.waiting: deque[_Waiting] | None = None
        """None until the first frame has to wait, which is rare."""
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
        """Return the number of frames of a message."""
        return -(-octets // self.frame_bytes) if self.frame_bytes else 1


class Air:
    """Carries frames between nodes in contact. `name_of` identifies the message in a frame, so that its
    transfer can be resumed.
    """

    def __init__(
        self,
        clock: Clock,
        radios: Sequence[Radio],
        rngs: Sequence[np.random.Generator] | Mapping[int, np.random.Generator],
        listener: Listener,
        name_of: Callable[[bytes], Hashable] = bytes,
    ) -> None:
        self._clock = clock
        self._radios = list(radios)
        self._rngs = rngs
        self._listener = listener
        self._name_of = name_of
        self._links: list[dict[int, _Lane]] = [{} for _ in radios]
        """The lanes of every node to its neighbours."""
        self._slots = [None if radio.many_at_once else _new_slots(radio) for radio in radios]
        self._crossed: dict[tuple[int, int, Hashable], float] = {}
        self._order = 0
        self.frames_sent = 0
        """Frames sent so far. A message longer than the frame of its link counts several times."""

    def radio(self, node: int) -> Radio:
        """Return the radio of a node."""
        return self._radios[node]

    def change(self, node: int, radio: Radio) -> None:
        """Change the rate and loss of a node's radio, also in open contacts."""
        self._radios[node] = radio
        for peer, lane in self._links[node].items():
            now = _Link(radio, self._radios[peer])
            lane.link.bytes_per_ms, lane.link.loss = now.bytes_per_ms, now.loss

    def neighbours(self, node: int) -> list[int]:
        """Return the nodes in contact with this node."""
        return list(self._links[node])

    def has_link(self, a: int, b: int) -> bool:
        """Return whether these two nodes are in contact."""
        return b in self._links[a]

    def open(self, a: int, b: int) -> None:
        """Open a contact."""
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
        """Close a contact. Frames on the air are lost, queued ones dropped. The loss of a queued packet is
        reported, because it has already been sent over earlier hops.
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
        """Queue a frame; without a contact it is dropped."""
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
            self._begin(lane, frame)  # If both slots are free, no queued frame could have begun.

    def _slots_of(self, node: int) -> tuple[_Slot, _Slot]:
        own = self._slots[node]
        if own is None:
            return _new_slots(self._radios[node])  # A channel of its own for each contact.
        return own

    def _begin(self, lane: _Lane, frame: _Waiting) -> None:
        """Start the transfer of a frame; both slots are free."""
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
            return  # The contact was closed before.
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
        return bool(self._rngs[lane.sender].random() < loss)

    def _release(self, lane: _Lane, at_ms: float) -> None:
        """Free the slots of a transfer, and start the frames that have waited longest for them."""
        one, other = slots = lane.slots
        one.taken = other.taken = False
        one.free_ms = other.free_ms = at_ms
        while (one.waiting or other.waiting) and (longest := self._longest_waiting(slots)) is not None:
            for slot in longest[0].slots:
                slot.waiting -= 1
            self._begin(longest[0], longest[1].popleft())

    def _longest_waiting(self, slots: tuple[_Slot, _Slot]) -> tuple[_Lane, deque[_Waiting]] | None:
        """Return the lane whose next frame has waited longest among those that need one of these slots and
        can begin, with its queue.
        """
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
        """Remember how much of a message was transferred, if radios resume."""
        if lane.link.resumes:
            crossed = max(0.0, self._clock.now_ms - cut.begin_ms) * lane.link.bytes_per_ms
            name = (lane.sender, lane.receiver, self._name_of(cut.data))
            self._crossed[name] = cut.crossed + min(crossed, cut.octets)


def _new_slots(radio: Radio) -> tuple[_Slot, _Slot]:
    """Return the slots for sending and receiving, which are the same if the radio is half duplex."""
    sending = _Slot()
    return sending, sending if radio.half_duplex else _Slot()
