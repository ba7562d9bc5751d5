"""The world of one run: it opens and ends contacts, carries frames, and asks engines.

Everything that happens is a call at a moment of the clock. After any verb of an engine the world takes
what the engine wants to send, writes down what it tells, and arranges to wake it.

A world is made of parts, each of which knows one thing; `emulation.assembly` puts them together, and
leaves out what a scenario does not ask for. Some are asked by the world (`Parts`): who can talk, where
contacts come from, what frames meet, what is computed and used. Others act on it by its public methods:
applications (`emulation.workload.applications`), sensors (`emulation.workload.sensing`), faults
(`emulation.faults`) and controls.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dens.node.recording.matching_meter import MatchingMeter
from dens.node.recording.recorder import Journal
from dens.overlay.events import DatagramRefused, Event
from dens.overlay.wire.envelope import peek
from emulation.clock import Clock, Rank
from emulation.forwarding.routed_network import RoutedNetwork
from emulation.radio import CUT_OFF, Air, Packet, Radio
from emulation.world.board_time import BoardTime
from emulation.world.contact_schedule import ContactSchedule
from emulation.world.energy_supply import EnergySupply
from emulation.world.frame_faults import FrameFaults
from emulation.world.local_clock import in_world_time
from emulation.world.node import Node
from emulation.world.reachability import Reachability
from emulation.world.reactive_mobility import ReactiveMobility
from emulation.world.watchers import Watchers


def message_in(frame: bytes) -> Hashable:
    """Return which message a frame carries, whatever its age is at the moment."""
    told = peek(frame)
    return frame if told is None else (told[0], told[2], told[3])


@dataclass(frozen=True, slots=True)
class Parts:
    """What a world asks. None is what the scenario knows nothing of: it costs nothing."""

    contacts: ContactSchedule
    reachability: Reachability
    mobility: ReactiveMobility | None = None
    frame_faults: FrameFaults | None = None
    energy: EnergySupply | None = None
    boards: BoardTime | None = None
    network: RoutedNetwork | None = None


class World:
    """Nodes, and the air between their devices."""

    def __init__(
        self,
        clock: Clock,
        journal: Journal,
        nodes: Sequence[Node],
        radios: Sequence[Radio],
        chances: Mapping[int, np.random.Generator],
        parts: Parts,
    ) -> None:
        """Take the radio of every device and the chance of its losses; the first nodes are those that are
        heard on the air, one for each device."""
        self.clock = clock
        self.journal = journal
        self.nodes = nodes
        self.reachability = parts.reachability
        self.watchers: Watchers | None = None
        """Processes that wait for something of this world, once there was one."""
        self.energy = parts.energy
        self.boards = parts.boards
        self._contacts = parts.contacts
        self._mobility = parts.mobility
        self._frame_faults = parts.frame_faults
        self._network = parts.network
        self._devices = len(radios)
        self._down = parts.reachability.down
        self.air = Air(clock, radios, chances, self, message_in)
        self._forwarders = frozenset(node.number for node in nodes if node.slot.role == "forwarder")
        if self._network is not None:
            self._network.begin(self.air, self)
        self._inside: dict[int, list[Node]] = {}
        for node in nodes:
            self._inside.setdefault(node.device, []).append(node)

    @property
    def now_ms(self) -> int:
        """Return the simulated time."""
        return self.clock.now_ms

    @property
    def node_count(self) -> int:
        """Return how many nodes there are."""
        return len(self.nodes)

    def inside(self, device: int) -> Sequence[Node]:
        """Return the nodes that a device carries."""
        return self._inside[device]

    def begin(self) -> None:
        """Put the contacts on the clock, and let the ends inside devices meet their mediators."""
        for node in self.nodes:
            self.journal.node(node.number, node.slot.name, node.slot.group, node.slot.role)
        self._contacts.begin(self.contact_opened, self.contact_lost)
        for node in self.nodes[self._devices :]:
            self.clock.call_at(0, Rank.CONTACT_OPENED, self.join, node)

    def settle_all(self) -> None:
        """Take what the engines tell of their making, and write down what they hold from the start."""
        for node in self.nodes:
            self.settle(node)
            self.journal.buffer(0, node.number, *node.held())

    def record_until_now(self) -> None:
        """Write down the motion and the contacts that are fact by now."""
        self._contacts.record_until(self.clock.now_ms)

    def close(self, at_ms: int) -> None:
        """Write down what is known only now that the run ends, at this time."""
        self.tell_ends()
        self._contacts.close(at_ms)
        if self._network is not None:
            self._network.close(at_ms)

    def tell_ends(self) -> None:
        """Write down what has ended at any node before now and is not told yet, because its node had nothing
        to do since. Nothing else changes.
        """
        for node in self.nodes:
            end_ms = node.engine.next_expiry_ms()
            if end_ms is not None and end_ms - node.skew_ms < self.clock.now_ms:
                self.tell_ends_of(node)

    def tell_ends_of(self, node: Node) -> None:
        """Write down what has ended at this node before now, unless it is down, or busy: then it tells that
        with all else when it is done computing."""
        is_busy = self.boards is not None and self.boards.free_ms(node) > self.clock.now_ms
        if node.device not in self._down and not is_busy:
            node.engine.expire(self.clock.now_ms - 1 + node.skew_ms)
            if node.slot.role != "mediator":
                node.engine.context.durable.commit()  # An end commits at once, and tells nothing twice.
            self._write_down(node, node.engine.next_event(), b"")

    # ------------------------------------------------------------------ contacts and the air

    def contact_opened(self, a: int, b: int) -> None:
        """Two devices come into range; they talk unless something stands between them."""
        self.reachability.near(a, b)
        if self.reachability.can_talk(a, b):
            self.connect(a, b)

    def contact_lost(self, a: int, b: int) -> None:
        """Two devices go out of range."""
        self.reachability.far(a, b)
        if self.reachability.can_talk(a, b):
            self.disconnect(a, b)

    def connect(self, a: int, b: int) -> None:
        """Let two devices talk."""
        self.air.open(a, b)
        if self.watchers is not None:
            self.watchers.on_contact(a, b)
        if self._network is None or self._network.link_changed(a, b, True):
            self.open_contact(a, b)

    def open_contact(self, a: int, b: int) -> None:
        """Let the engines of two devices know that they can reach each other. Who only forwards has nothing
        to say, and who is down hears of it when it begins again."""
        if self._forwarders and (a in self._forwarders or b in self._forwarders):
            return
        now_ms = self.clock.now_ms
        for number, peer in ((a, b), (b, a)):
            if number not in self._down:
                node = self.nodes[number]
                node.engine.contact_opened(peer, now_ms + node.skew_ms)
                self.settle(node)

    def take_up_contacts(self, device: int) -> None:
        """Let a device that begins again greet those whom it reaches: in range, and beyond."""
        for peer in self.reachability.neighbours(device):
            if self.reachability.can_talk(device, peer):
                self.connect(min(device, peer), max(device, peer))
        if self._network is not None:
            now_ms, node = self.clock.now_ms, self.nodes[device]
            for peer in self._network.peers(device):
                node.engine.contact_opened(peer, now_ms + node.skew_ms)
                self.settle(node)

    def join(self, end: Node) -> None:
        """Let an end inside a device talk with the device's mediator, for good."""
        now_ms = self.clock.now_ms
        for node, peer in ((end, end.device), (self.nodes[end.device], end.number)):
            node.engine.contact_opened(peer, now_ms + node.skew_ms)
            self.settle(node)

    def _arrive_inside(self, sender: int, receiver: int, data: bytes) -> None:
        """Hand over bytes between two engines of one device: no air, no time, no frame in the trace."""
        node = self.nodes[receiver]
        if node.device in self._down:
            return
        node.engine.receive(data, sender, self.clock.now_ms + node.skew_ms)
        self.settle(node, data)

    def disconnect(self, a: int, b: int, reason: str = CUT_OFF) -> None:
        """Let two devices talk no more. Nothing is said or sent after this, so there is nothing to settle."""
        self.air.close(a, b, reason)
        if self.watchers is not None:
            self.watchers.on_contact_lost(a, b)
        if self._network is None or self._network.link_changed(a, b, False):
            self.close_contact(a, b)

    def close_contact(self, a: int, b: int) -> None:
        """Let the engines of two devices know that they cannot reach each other any more."""
        now_ms = self.clock.now_ms
        for number, peer in ((a, b), (b, a)):
            node = self.nodes[number]
            node.engine.contact_lost(peer, now_ms + node.skew_ms)

    def silence(self, device: int) -> None:
        """Cut a device off whose engines are gone: only its neighbours hear of it."""
        now_ms = self.clock.now_ms
        for peer in self.air.neighbours(device):
            self.air.close(device, peer, "node_down")
            if self.watchers is not None:
                self.watchers.on_contact_lost(device, peer)
            if self._network is None or self._network.link_changed(device, peer, False):
                self.nodes[peer].engine.contact_lost(device, now_ms + self.nodes[peer].skew_ms)

    def frame_sent(self, sender: int, receiver: int, data: bytes, octets: int, packet: Packet | None) -> None:
        """The first byte of a frame leaves."""
        if self.energy is not None:
            self.energy.send(sender, octets)
        if packet is None:
            self.journal.frame_sent(self.clock.now_ms, sender, receiver, data)
        else:
            assert self._network is not None
            self._network.hop_began(packet)

    def frame_received(
        self, sender: int, receiver: int, data: bytes, octets: int, packet: Packet | None
    ) -> None:
        """The last byte of a frame is there: give it to the engine, unless a fault hits it, or it is on its
        way to somebody else."""
        now_ms = self.clock.now_ms
        if self.energy is not None:
            self.energy.receive(receiver, octets)
        if self._frame_faults is not None:
            arrived = self._frame_faults.pass_on(sender, receiver, data, now_ms)
            if arrived is None:
                self.frame_lost(sender, receiver, data, "fault", packet)
                return
            data = arrived
        header = 0
        if packet is not None:
            assert self._network is not None
            if not self._network.hop_ended(packet, sender, receiver, data):
                return
            sender, header = packet.source, packet.header_bytes
        node = self.nodes[receiver]
        if self.boards is not None:
            self.boards.message(node)
        self.journal.frame_received(now_ms, sender, receiver, data, header)
        node.engine.receive(data, sender, now_ms + node.skew_ms)
        self.settle(node, data)

    def frame_lost(self, sender: int, receiver: int, data: bytes, reason: str, packet: Packet | None) -> None:
        """A frame left and will not arrive."""
        if packet is None:
            self.journal.frame_lost(self.clock.now_ms, sender, receiver, data, reason)
        else:
            assert self._network is not None
            self._network.hop_failed(packet, sender, receiver, reason)

    def packet_sent(self, packet: Packet) -> None:
        """A frame leaves its source for somebody beyond range."""
        self.journal.frame_sent(
            self.clock.now_ms, packet.source, packet.destination, packet.data, packet.header_bytes
        )

    def packet_lost(self, packet: Packet, reason: str) -> None:
        """A frame that left for somebody beyond range will not arrive."""
        self.journal.frame_lost(
            self.clock.now_ms, packet.source, packet.destination, packet.data, reason, packet.header_bytes
        )

    # ------------------------------------------------------------------ engines

    def settle(self, node: Node, received: bytes = b"") -> None:
        """Take what the engine wants to send and tell, when it is done computing. Every verb is followed by
        this."""
        if node.device in self._down:
            return
        if node.meter is not None:
            self._tell_matching(node, node.meter)
        boards = self.boards
        if boards is None:
            self.settle_now(node, received)
            return
        if (free_ms := boards.free_ms(node)) > self.clock.now_ms:
            self.clock.call_at(free_ms, Rank.ARRIVAL, self.settle, node, received)
            return
        self.settle_now(node, received)

    def _tell_matching(self, node: Node, meter: MatchingMeter) -> None:
        """Write down what a mediator did to match, and let it compute that long."""
        for step in meter.take():
            cost_us = 0.0 if self.boards is None else self.boards.matching_us(node, step.work)
            self.journal.matching(self.clock.now_ms, node.number, step, cost_us)

    def settle_now(self, node: Node, received: bytes = b"") -> None:
        """Take what the engine wants to send and tell, and arrange to wake it."""
        now_ms, skew_ms = self.clock.now_ms, node.skew_ms
        engine, number = node.engine, node.number
        for datagram in engine.datagrams_to_send(now_ms + skew_ms):
            peer, data = datagram.peer, datagram.data
            if number < self._devices and peer < self._devices:
                if self._network is None or self.air.has_link(number, peer):
                    self.air.send(number, peer, data)
                else:
                    self._network.send(number, peer, data)
            else:
                self.clock.call_at(now_ms, Rank.ARRIVAL, self._arrive_inside, number, peer, data)
        if (event := engine.next_event()) is not None:
            self._write_down(node, event, received)
            self.journal.buffer(now_ms, number, *engine.held())
        wanted_ms = engine.next_timer_ms()
        if wanted_ms is not None and (node.wake_ms is None or wanted_ms - skew_ms < node.wake_ms):
            self._wake_at(node, wanted_ms - skew_ms)
        if self._mobility is not None:
            self._mobility.react()

    def _write_down(self, node: Node, event: Event | None, received: bytes) -> None:
        """Write down this and all else that the engine tells."""
        next_event, journal, mobility = node.engine.next_event, self.journal, self._mobility
        watchers = self.watchers
        number, skew_ms, set_ms = node.number, node.skew_ms, node.set_ms
        while event is not None:
            if skew_ms or set_ms:
                event = in_world_time(event, skew_ms, set_ms)
            if isinstance(event, DatagramRefused):
                journal.frame_refused(number, received, event)
            else:
                journal.event(number, event)
                if mobility is not None:
                    mobility.heard(number, event)
                if watchers is not None:
                    watchers.on_event(number, event)
            event = next_event()

    def _wake_at(self, node: Node, wanted_ms: int) -> None:
        """Arrange to wake a node, at the next millisecond at the earliest."""
        at_ms = max(wanted_ms, self.clock.now_ms + 1)
        if node.wake_ms is None or at_ms < node.wake_ms:
            node.wake_ms = at_ms
            self.clock.wake_at(at_ms, node.number, self._wake, node, at_ms)

    def _wake(self, node: Node, at_ms: int) -> None:
        """Let an engine do what is due. Mostly what it wanted to be woken for came about in the meantime (an
        answer came before the patience was over), and it sleeps on."""
        if node.wake_ms != at_ms or node.device in self._down:
            return  # An earlier call took its place, or nobody is there.
        node.wake_ms = None
        wanted_ms = node.engine.next_timer_ms()
        if wanted_ms is None:
            return
        if wanted_ms > at_ms + node.skew_ms:
            self._wake_at(node, wanted_ms - node.skew_ms)
            return
        node.engine.timer_due(at_ms + node.skew_ms)
        self.settle(node)
