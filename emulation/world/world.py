"""The world of one run: it opens and closes contacts, carries frames, and drives the engines.

Everything is a call of the clock. After any call of an engine, the world sends its datagrams, records its
events and schedules its timer.

A world consists of parts; `emulation.assembly` joins them and leaves out those that a scenario does not use.
The world uses some of them (`Parts`): reachability, contacts, faults of frames, computing time and energy.
Others use the public methods of the world: applications (`emulation.workload.applications`), sensors
(`emulation.workload.sensing`), faults (`emulation.faults`) and controls.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dens.node.recording.matching_meter import MatchingMeter
from dens.node.recording.recorder import Journal
from dens.overlay.events import DatagramRefused, Event, HoldingsEnded, MessageEvent, NotificationMatched
from dens.overlay.wire.envelope import peek
from emulation.clock import Clock, Rank
from emulation.forwarding.routed_network import RoutedNetwork
from emulation.radio import CUT_OFF, Air, Packet, Radio
from emulation.world.board_time import BoardTime
from emulation.world.contact_schedule import ContactSchedule
from emulation.world.energy_supply import EnergySupply
from emulation.world.frame_faults import FrameFaults
from emulation.world.node import Node
from emulation.world.reachability import Reachability
from emulation.world.reactive_mobility import ReactiveMobility
from emulation.world.watchers import Watchers


def message_in(frame: bytes) -> Hashable:
    """Return the identity of the message in a frame, which does not depend on its age."""
    header = peek(frame)
    return frame if header is None else (header[0], header[2], header[3])


def in_world_time(event: Event, skew_ms: int, least_ms: int) -> Event:
    """Return an event of a node with a wrong clock in the time of the world. What expires because the clock
    was set expires when it was set, at `least_ms`.
    """
    if isinstance(event, MessageEvent):
        return event.in_time_of(skew_ms, least_ms)
    at_ms = max(event.at_ms - skew_ms, least_ms)
    if isinstance(event, NotificationMatched):
        return event.at(at_ms, event.item.created_ms - skew_ms)
    if isinstance(event, HoldingsEnded):
        return event.at(at_ms)
    return replace(event, at_ms=at_ms)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that a world uses; None for those that the scenario does not have."""

    contacts: ContactSchedule
    reachability: Reachability
    mobility: ReactiveMobility | None = None
    frame_faults: FrameFaults | None = None
    energy: EnergySupply | None = None
    boards: BoardTime | None = None
    network: RoutedNetwork | None = None


class World:
    """Nodes, and the radio channel between their devices."""

    def __init__(
        self,
        clock: Clock,
        journal: Journal,
        nodes: Sequence[Node],
        radios: Sequence[Radio],
        rngs: Mapping[int, np.random.Generator],
        parts: Parts,
    ) -> None:
        """Take the radio of every device and the random generator of its losses. The first nodes are those
        with a radio, one for each device.
        """
        self.clock = clock
        self.journal = journal
        self.nodes = nodes
        self.reachability = parts.reachability
        self.watchers: Watchers | None = None
        """Processes that wait for events of this world; None until the first one."""
        self.energy = parts.energy
        self.boards = parts.boards
        self._contacts = parts.contacts
        self._mobility = parts.mobility
        self._frame_faults = parts.frame_faults
        self._network = parts.network
        self._devices = len(radios)
        self._down = parts.reachability.down
        self.air = Air(clock, radios, rngs, self, message_in)
        self._forwarders = frozenset(node.number for node in nodes if node.slot.role == "forwarder")
        if self._network is not None:
            self._network.begin(self.air, self)
        self._inside: dict[int, list[Node]] = {}
        for node in nodes:
            self._inside.setdefault(node.device, []).append(node)

    @property
    def now_ms(self) -> int:
        return self.clock.now_ms

    @property
    def node_count(self) -> int:
        return len(self.nodes)

    def inside(self, device: int) -> Sequence[Node]:
        """Return the nodes of a device."""
        return self._inside[device]

    def begin(self) -> None:
        """Schedule the contacts, and connect the endpoints inside devices with their mediators."""
        for node in self.nodes:
            self.journal.node(node.number, node.slot.name, node.slot.group, node.slot.role)
        self._contacts.begin(self.contact_opened, self.contact_lost)
        for node in self.nodes[self._devices :]:
            self.clock.call_at(0, Rank.CONTACT_OPENED, self.join, node)

    def settle_all(self) -> None:
        """Record the first events of all engines, and what they hold at the start."""
        for node in self.nodes:
            self.settle(node)
            self.journal.buffer(0, node.number, *node.held())

    def record_until_now(self) -> None:
        """Record motion and contacts up to now."""
        self._contacts.record_until(self.clock.now_ms)

    def close(self, at_ms: int) -> None:
        """Record what is known only at the end of the run."""
        self.record_expired()
        self._contacts.close(at_ms)
        if self._network is not None:
            self._network.close(at_ms)

    def record_expired(self) -> None:
        """Record what expired at any node before now and was not reported yet, because the node was idle
        since. Nothing else changes.
        """
        for node in self.nodes:
            end_ms = node.engine.next_expiry_ms()
            if end_ms is not None and end_ms - node.skew_ms < self.clock.now_ms:
                self.record_expired_at(node)

    def record_expired_at(self, node: Node) -> None:
        """Record what expired at this node before now, unless it is down or busy: a busy node reports it with
        all else when it is done.
        """
        is_busy = self.boards is not None and self.boards.free_ms(node) > self.clock.now_ms
        if node.device not in self._down and not is_busy:
            node.engine.expire(self.clock.now_ms - 1 + node.skew_ms)
            if node.slot.role != "mediator":
                node.engine.context.durable.commit()  # At once, so that it is not reported twice.
            self._record_events(node, node.engine.next_event(), b"")

    # ------------------------------------------------------------------ contacts and the air

    def contact_opened(self, a: int, b: int) -> None:
        """Two devices come into range; they are connected unless one is down or a partition separates
        them.
        """
        self.reachability.near(a, b)
        if self.reachability.can_talk(a, b):
            self.connect(a, b)

    def contact_lost(self, a: int, b: int) -> None:
        """Two devices go out of range."""
        self.reachability.far(a, b)
        if self.reachability.can_talk(a, b):
            self.disconnect(a, b)

    def connect(self, a: int, b: int) -> None:
        """Open the radio link of two devices."""
        self.air.open(a, b)
        if self.watchers is not None:
            self.watchers.on_contact(a, b)
        if self._network is None or self._network.link_changed(a, b, True):
            self.open_contact(a, b)

    def open_contact(self, a: int, b: int) -> None:
        """Report a contact to the engines of two devices. Forwarders have no engine, and a device that is
        down gets its contacts after the restart.
        """
        if self._forwarders and (a in self._forwarders or b in self._forwarders):
            return
        now_ms = self.clock.now_ms
        for number, peer in ((a, b), (b, a)):
            if number not in self._down:
                node = self.nodes[number]
                node.engine.contact_opened(peer, now_ms + node.skew_ms)
                self.settle(node)

    def take_up_contacts(self, device: int) -> None:
        """Connect a restarted device with those that it can reach, in range and beyond."""
        for peer in self.reachability.neighbours(device):
            if self.reachability.can_talk(device, peer):
                self.connect(min(device, peer), max(device, peer))
        if self._network is not None:
            now_ms, node = self.clock.now_ms, self.nodes[device]
            for peer in self._network.peers(device):
                node.engine.contact_opened(peer, now_ms + node.skew_ms)
                self.settle(node)

    def join(self, endpoint: Node) -> None:
        """Connect an endpoint inside a device with the device's mediator permanently."""
        now_ms = self.clock.now_ms
        for node, peer in ((endpoint, endpoint.device), (self.nodes[endpoint.device], endpoint.number)):
            node.engine.contact_opened(peer, now_ms + node.skew_ms)
            self.settle(node)

    def _arrive_inside(self, sender: int, receiver: int, data: bytes) -> None:
        """Deliver bytes between two engines of one device, without radio, delay or frame in the trace."""
        node = self.nodes[receiver]
        if node.device in self._down:
            return
        node.engine.receive(data, sender, self.clock.now_ms + node.skew_ms)
        self.settle(node, data)

    def disconnect(self, a: int, b: int, reason: str = CUT_OFF) -> None:
        """Close the radio link of two devices. Engines send nothing in response, so there is nothing to
        settle.
        """
        self.air.close(a, b, reason)
        if self.watchers is not None:
            self.watchers.on_contact_lost(a, b)
        if self._network is None or self._network.link_changed(a, b, False):
            self.close_contact(a, b)

    def close_contact(self, a: int, b: int) -> None:
        """Report the end of a contact to the engines of two devices."""
        now_ms = self.clock.now_ms
        for number, peer in ((a, b), (b, a)):
            node = self.nodes[number]
            node.engine.contact_lost(peer, now_ms + node.skew_ms)

    def silence(self, device: int) -> None:
        """Close all links of a device whose engines are gone; only its neighbours get an event."""
        now_ms = self.clock.now_ms
        for peer in self.air.neighbours(device):
            self.air.close(device, peer, "node_down")
            if self.watchers is not None:
                self.watchers.on_contact_lost(device, peer)
            if self._network is None or self._network.link_changed(device, peer, False):
                self.nodes[peer].engine.contact_lost(device, now_ms + self.nodes[peer].skew_ms)

    def frame_sent(self, sender: int, receiver: int, data: bytes, octets: int, packet: Packet | None) -> None:
        """Handle that the first byte of a frame left."""
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
        """Handle the arrival of a frame: pass it to the engine, unless a fault hits it or it has to be
        forwarded.
        """
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
        """Handle the loss of a frame."""
        if packet is None:
            self.journal.frame_lost(self.clock.now_ms, sender, receiver, data, reason)
        else:
            assert self._network is not None
            self._network.hop_failed(packet, sender, receiver, reason)

    def packet_sent(self, packet: Packet) -> None:
        """Record that a multi-hop frame left its source."""
        self.journal.frame_sent(
            self.clock.now_ms, packet.source, packet.destination, packet.data, packet.header_bytes
        )

    def packet_lost(self, packet: Packet, reason: str) -> None:
        """Record the loss of a multi-hop frame."""
        self.journal.frame_lost(
            self.clock.now_ms, packet.source, packet.destination, packet.data, reason, packet.header_bytes
        )

    # ------------------------------------------------------------------ engines

    def settle(self, node: Node, received: bytes = b"") -> None:
        """Process the output of an engine when it is done computing. Every call of an engine is followed by
        this.
        """
        if node.device in self._down:
            return
        if node.meter is not None:
            self._record_matching(node, node.meter)
        boards = self.boards
        if boards is None:
            self.settle_now(node, received)
            return
        if (free_ms := boards.free_ms(node)) > self.clock.now_ms:
            self.clock.call_at(free_ms, Rank.ARRIVAL, self.settle, node, received)
            return
        self.settle_now(node, received)

    def _record_matching(self, node: Node, meter: MatchingMeter) -> None:
        """Record the matching work of a mediator, and charge it for the time."""
        for step in meter.take():
            cost_us = 0.0 if self.boards is None else self.boards.matching_us(node, step.work)
            self.journal.matching(self.clock.now_ms, node.number, step, cost_us)

    def settle_now(self, node: Node, received: bytes = b"") -> None:
        """Send the datagrams of an engine, record its events, and schedule its timer."""
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
            self._record_events(node, event, received)
            self.journal.buffer(now_ms, number, *engine.held())
        timer_ms = engine.next_timer_ms()
        if timer_ms is not None and (node.wake_ms is None or timer_ms - skew_ms < node.wake_ms):
            self._wake_at(node, timer_ms - skew_ms)
        if self._mobility is not None:
            self._mobility.react()

    def _record_events(self, node: Node, event: Event | None, received: bytes) -> None:
        """Record this event and all further ones of the engine."""
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
                    mobility.on_event(number, event)
                if watchers is not None:
                    watchers.on_event(number, event)
            event = next_event()

    def _wake_at(self, node: Node, timer_ms: int) -> None:
        """Schedule the timer of a node, in the next millisecond at the earliest."""
        at_ms = max(timer_ms, self.clock.now_ms + 1)
        if node.wake_ms is None or at_ms < node.wake_ms:
            node.wake_ms = at_ms
            self.clock.wake_at(at_ms, node.number, self._wake, node, at_ms)

    def _wake(self, node: Node, at_ms: int) -> None:
        """Run the timer of an engine. Mostly it is no longer due (an answer came before the timeout), and it
        is scheduled again.
        """
        if node.wake_ms != at_ms or node.device in self._down:
            return  # Replaced by an earlier call, or the device is down.
        node.wake_ms = None
        timer_ms = node.engine.next_timer_ms()
        if timer_ms is None:
            return
        if timer_ms > at_ms + node.skew_ms:
            self._wake_at(node, timer_ms - node.skew_ms)
            return
        node.engine.timer_due(at_ms + node.skew_ms)
        self.settle(node)
