"""The world with everything that a scenario puts in the way of its nodes.

A device that is down hears, says and measures nothing; its engines are gone. When it comes up again it has
new engines, made from what was committed or from nothing, and takes up the contacts that still last. Its
sensors belong to the world and go on. What an application wanted to ask while its device was down it asks
afterwards; after the loss of a store it asks again for everything, as new revisions.

Computation delays what a node says: while it computes, answers wait.
"""

from dataclasses import replace
from functools import partial
from typing import Any

from dens.stores.memory import MemoryStore
from emulation.clock import Rank
from emulation.faults.frames import FrameFault
from emulation.faults.moments import moments_ms
from emulation.faults.reach import Reach
from emulation.faults.supply import Supply
from emulation.node import Node, Sensor
from emulation.scenario import Scenario
from emulation.scenario.controls import ChangedRadio, control_path
from emulation.scenario.fault_settings import (
    BoardSettings,
    ClockSettings,
    ControlSettings,
    CorruptSettings,
    CrashSettings,
    LossSettings,
    PartitionSettings,
)
from emulation.trace.writer import TraceWriter
from emulation.world import World

Asked = tuple[int, bytes, str | None]
"""(language, vector, document)"""


class HarshWorld(World):
    """A world with batteries, boards, faults and controls."""

    def __init__(self, scenario: Scenario, seed: int, trace: TraceWriter) -> None:
        self._reach = Reach()
        self._boards: dict[int, BoardSettings] = {}
        self._busy_us: dict[int, float] = {}
        self._losses: list[FrameFault] = []
        self._flips: list[FrameFault] = []
        self._asked: dict[int, list[Asked]] = {}
        self._waiting: dict[int, list[Asked]] = {}
        self._unsaid: dict[int, list[int]] = {}
        """What was taken back while its device was down, by number."""
        super().__init__(scenario, seed, trace)
        self._supply = Supply(self._clock, self.journal, self._reach, self._stop)
        self._inside: dict[int, list[Node]] = {}
        for node in self._nodes:
            self._inside.setdefault(node.seat.device, []).append(node)
        self._equip()
        for index, fault in enumerate(scenario.settings.fault):
            self._arrange_fault(index, fault)
        for control in scenario.settings.control:
            at_ms = int(1000 * control.at_s)
            self._clock.call_at(at_ms, Rank.APPLICATION, partial(self._change, control))

    # ------------------------------------------------------------------ setting up

    def _equip(self) -> None:
        settings = self._scenario.settings
        for group, numbers in self._scenario.members():
            for device in numbers:
                if group.energy is not None:
                    self._supply.equip(device, settings.energy[group.energy])
                if group.board is not None:
                    for node in self._inside[device]:
                        board = self._boards[node.number] = settings.board[group.board]
                        self.journal.match_us[node.number] = board.match_us
        self._supply.report_until(self._scenario.duration_ms)

    def _arrange_fault(
        self,
        index: int,
        fault: CrashSettings | ClockSettings | LossSettings | CorruptSettings | PartitionSettings,
    ) -> None:
        devices = self._scenario.devices_named(fault.who)
        if isinstance(fault, LossSettings | CorruptSettings):
            struck = self._losses if isinstance(fault, LossSettings) else self._flips
            struck.append(FrameFault(fault, frozenset(devices), self._streams.stream("faults", index)))
        elif isinstance(fault, PartitionSettings):
            island, at_ms = frozenset(devices), int(1000 * fault.at_s)
            self._clock.call_at(at_ms, Rank.APPLICATION, partial(self._cut_off, island))
            if fault.for_s is not None:
                end_ms = at_ms + int(1000 * fault.for_s)
                self._clock.call_at(end_ms, Rank.APPLICATION, partial(self._rejoin, island))
        else:
            for device in devices:
                chance = self._streams.stream("faults", index, device)
                for at_ms in moments_ms(fault, self._scenario.duration_ms, chance):
                    strike = partial(self._strike, device, fault)
                    self._clock.call_at(at_ms, Rank.APPLICATION, strike)

    def _change(self, control: ControlSettings) -> None:
        """Give a key of the scenario another value; loading has checked that it is one that can change."""
        where = control_path(control.path)
        assert where is not None
        if isinstance(where, ChangedRadio):
            for group, numbers in self._scenario.members():
                if group.radio == where.name:
                    for device in numbers:
                        radio = self._air.radio(device)
                        changed: dict[str, Any] = {where.key: control.value}
                        self._air.change(device, replace(radio, **changed))
            return
        planned = self._scenario.sensors[where.index]
        for node in self._nodes:
            for sensor in node.sensors:
                if (sensor.plan.group, sensor.plan.event) == (planned.group, planned.event):
                    sensor.plan = replace(sensor.plan, every_ms=max(1, int(1000 * control.value)))

    # ------------------------------------------------------------------ up and down

    def _strike(self, device: int, fault: CrashSettings | ClockSettings) -> None:
        if isinstance(fault, ClockSettings):
            for node in self._inside[device]:
                if device not in self._reach.down:
                    super()._settle(node)  # What happened until now happened in the old time.
                node.skew_ms += int(1000 * fault.jump_s)
                self._settle(node)
        elif device not in self._reach.down:
            self._stop(device, "crash")
            if fault.for_s is not None:
                at_ms = self._clock.now_ms + int(1000 * fault.for_s)
                self._clock.call_at(
                    at_ms, Rank.APPLICATION, partial(self._start, device, fault.store == "kept")
                )

    def _stop(self, device: int, reason: str) -> None:
        """Let a device fall silent with everything that it had not committed."""
        now_ms = self._clock.now_ms
        self._supply.stops(device)
        self._reach.down.add(device)
        for peer in self._air.neighbours(device):
            self._air.close(device, peer, "node_down")
            self._nodes[peer].engine.contact_lost(device, now_ms + self._nodes[peer].skew_ms)
        for node in self._inside[device]:
            node.store = node.store.crash()
            self.journal.state(now_ms, node.number, "down", reason)

    def _start(self, device: int, has_store: bool) -> None:
        """Let a device begin again, if its battery lets it."""
        if not self._supply.can_start(device):
            return
        now_ms = self._clock.now_ms
        self._reach.down.discard(device)
        self._supply.starts(device)
        nodes = self._inside[device]
        for node in nodes:
            store = node.store if has_store else MemoryStore()
            self._crew.restart(node, store, now_ms + node.skew_ms)
            self._busy_us.pop(node.number, None)
            self.journal.state(now_ms, node.number, "up", "restart" if has_store else "restart_empty")
            self.journal.buffer(now_ms, node.number, *node.held())
        for node in nodes:
            if node.number != device:
                self._join(node)
            again = [] if has_store else [_renewed(asked) for asked in self._asked.pop(node.number, [])]
            for language, vector, document in [*again, *self._waiting.pop(node.number, [])]:
                self._subscribe(node, language, vector, document)
            for id in self._unsaid.pop(node.number, []):
                self._unsubscribe(node, id)
            self._settle(node)
        for peer in self._reach.neighbours(device):
            if self._reach.can_talk(device, peer):
                super()._contact_opened(min(device, peer), max(device, peer))

    # ------------------------------------------------------------------ who can talk

    def _contact_opened(self, a: int, b: int) -> None:
        self._reach.near(a, b)
        if self._reach.can_talk(a, b):
            super()._contact_opened(a, b)

    def _contact_lost(self, a: int, b: int) -> None:
        self._reach.far(a, b)
        if self._reach.can_talk(a, b):
            super()._contact_lost(a, b)

    def _cut_off(self, island: frozenset[int]) -> None:
        before = [pair for pair in self._reach.pairs() if self._reach.can_talk(*pair)]
        self._reach.cut_off(island)
        now_ms = self._clock.now_ms
        for a, b in before:
            if not self._reach.can_talk(a, b):
                self._air.close(a, b, "partition")
                for number, peer in ((a, b), (b, a)):
                    node = self._nodes[number]
                    node.engine.contact_lost(peer, now_ms + node.skew_ms)

    def _rejoin(self, island: frozenset[int]) -> None:
        before = {pair for pair in self._reach.pairs() if self._reach.can_talk(*pair)}
        self._reach.join(island)
        for a, b in self._reach.pairs():
            if (a, b) not in before and self._reach.can_talk(a, b):
                super()._contact_opened(a, b)

    # ------------------------------------------------------------------ frames

    def frame_sent(self, sender: int, receiver: int, data: bytes) -> None:
        """The first byte of a frame leaves."""
        self._supply.send(sender, len(data))
        super().frame_sent(sender, receiver, data)

    def frame_received(self, sender: int, receiver: int, data: bytes) -> None:
        """The last byte of a frame is there, unless a fault hits it."""
        now_ms = self._clock.now_ms
        self._supply.receive(receiver, len(data))
        if any(fault.strikes(sender, receiver, now_ms) for fault in self._losses):
            self.frame_lost(sender, receiver, data, "fault")
            return
        for fault in self._flips:
            if fault.strikes(sender, receiver, now_ms):
                data = fault.flipped(data)
        if (board := self._boards.get(receiver)) is not None:
            self._compute(self._nodes[receiver], board.message_us)
        super().frame_received(sender, receiver, data)

    def _arrive_inside(self, sender: int, receiver: int, data: bytes) -> None:
        if self._nodes[receiver].seat.device not in self._reach.down:
            super()._arrive_inside(sender, receiver, data)

    # ------------------------------------------------------------------ engines

    def _settle(self, node: Node, received: bytes = b"") -> None:
        if node.seat.device in self._reach.down:
            return
        now_ms = self._clock.now_ms
        if self._busy_us.get(node.number, 0.0) > 1000.0 * now_ms:
            free_ms = -int(-self._busy_us[node.number] // 1000.0)
            self._clock.call_at(free_ms, Rank.ARRIVAL, partial(self._settle, node, received))
            return
        found = self.journal.matched
        super()._settle(node, received)
        if (board := self._boards.get(node.number)) is not None:
            self._compute(node, (self.journal.matched - found) * board.match_us)

    def _wake(self, node: Node, at_ms: int) -> None:
        if node.seat.device not in self._reach.down:
            super()._wake(node, at_ms)

    def _compute(self, node: Node, cost_us: float) -> None:
        """Keep a node busy for so long, after what it is busy with."""
        if cost_us > 0.0:
            begin_us = max(1000.0 * self._clock.now_ms, self._busy_us.get(node.number, 0.0))
            self._busy_us[node.number] = begin_us + cost_us
            self._supply.compute(node.seat.device, cost_us, self._boards[node.number].active_w)

    # ------------------------------------------------------------------ applications and sensors

    def _subscribe(self, node: Node, language: int, vector: bytes, document: str | None) -> None:
        asked = (language, vector, document)
        if node.seat.device in self._reach.down:
            self._waiting.setdefault(node.number, []).append(asked)
            return
        self._asked.setdefault(node.number, []).append(asked)
        super()._subscribe(node, language, vector, document)

    def _unsubscribe(self, node: Node, id: int) -> None:
        """Take it back now, or where the device is down when it is up again; nobody asks for it anew."""
        for asked in (self._asked, self._waiting):
            asked[node.number] = [one for one in asked.get(node.number, []) if one[1][0] != id]
        if node.seat.device in self._reach.down:
            self._unsaid.setdefault(node.number, []).append(id)
        else:
            super()._unsubscribe(node, id)

    def _publish(self, node: Node, language: int, vector: bytes, lifetime_q: int, event_number: int) -> None:
        if node.seat.device not in self._reach.down:
            super()._publish(node, language, vector, lifetime_q, event_number)

    def _judging_us(self, node: Node, installed: int, released: int) -> float:
        board = self._boards.get(node.number)
        if board is None:
            return 0.0
        cost_us = board.judging_us(installed, released)
        self._compute(node, cost_us)
        return cost_us

    def _read(self, node: Node, sensor: Sensor) -> None:
        device = node.seat.device
        if device in self._reach.down:
            sensor.next_ms += sensor.plan.every_ms
            self._read_later(node, sensor)
            return
        self._supply.read(device)
        super()._read(node, sensor)


def _renewed(asked: Asked) -> Asked:
    """Return the next revision of what was asked."""
    language, vector, document = asked
    return language, bytes((vector[0], (vector[1] + 1) % 256)) + vector[2:], document
