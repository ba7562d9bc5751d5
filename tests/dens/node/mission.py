"""A mission in memory: a node with a trace, a medic and a bed, in made-up time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from dens.app.subscriptions.subscription import compiled_vector
from dens.config.reading import read_document
from dens.node.assembly import mediator, publisher, subscriber
from dens.node.processes.publisher import announce, run_sources, watchdog_for
from dens.node.recording.tracing import TracedNode, traced_node
from dens.node.settings.node_file import NodePlan, load_node
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import Event
from dens.overlay.session.protocol import ProtocolEngine
from dens.overlay.storage.memory import MemoryStore
from knowledge_manager.dictionary.local import LocalDataDictionary
from plugins.authoring import CompileOptions
from plugins.fuzzy.authoring.compiler import compile_subscription
from tests.paths import ROOT
from watchdog.reading import Reading

BEGIN_MS = 200_000_000_000
NODE, MEDIC, BED = 1, 7, 9
PAIR = ("serial", "application/octet-stream")
PATIENT = ROOT / "docs" / "examples" / "patient.xml"


class Monitor:
    """The bed's source, which the mission itself reads; it may be broken."""

    def __init__(self) -> None:
        self.is_broken = False
        self.is_on = False

    def start(self) -> None:
        if self.is_broken:
            raise OSError("no such device")
        self.is_on = True

    def stop(self) -> None:
        self.is_on = False


class Mission:
    """A node with a trace, a medic and a bed, joined by links that lose nothing, in made-up time."""

    def __init__(self, folder: Path, has_class: bool = True) -> None:
        """With a class that reads the bed's monitor, or without."""
        (folder / "node.toml").write_text(
            f'node = {NODE}\nstore = "unused"\nvocabularies = ["medical"]\n[udp]\naddress = "127.0.0.1:0"\n'
        )
        self.plan: NodePlan = load_node(folder / "node.toml")
        self.trace = folder / "trace of one"
        self.now_ms = BEGIN_MS
        self.said: list[str] = []
        self.events: list[Event] = []
        self.store = MemoryStore()
        self.medic: SubscriberEndpoint = subscriber(self.plan, MEDIC, MemoryStore(), self.now_ms, None)
        self.bed_store = MemoryStore()
        self.monitor = Monitor()
        self.has_class = has_class
        self.begin_bed()
        self.number = 0
        self.begin()

    def begin_bed(self) -> None:
        """Start the bed with what its store remembers."""
        self.watchdog = watchdog_for(self.plan.table)
        offered = LocalDataDictionary(self.plan.table)
        offered.offer("patient", [one.name for one in self.plan.table.event("patient").attributes], *PAIR)
        registry = {PAIR: lambda number: self.monitor} if self.has_class else {}
        self.environment = run_sources(self.watchdog, offered, self.plan.table, registry, self.said.append)
        self.bed: PublisherEndpoint = publisher(self.plan, BED, self.bed_store, self.now_ms, self.watchdog)
        announce(self.bed, offered, self.now_ms)

    def restart_bed(self) -> None:
        """Kill the bed, and start it again in a new contact."""
        self.bed_store = self.bed_store.crash()
        self.node.contact_lost(BED, self.now_ms)
        self.begin_bed()
        self.machines[BED] = self.bed
        self.meet_bed()

    def meet_bed(self) -> None:
        """Open a contact of node and bed."""
        self.node.contact_opened(BED, self.now_ms)
        self.bed.contact_opened(NODE, self.now_ms)

    def begin(self) -> None:
        engine = mediator(self.plan, self.store, self.now_ms)
        say: Callable[[str], None] = self.said.append
        self.node: TracedNode = traced_node(engine, self.plan, self.store, self.trace, self.now_ms, say)
        self.machines: dict[int, ProtocolEngine] = {NODE: self.node, MEDIC: self.medic, BED: self.bed}
        for end in (MEDIC, BED):
            self.node.contact_opened(end, self.now_ms)
            self.machines[end].contact_opened(NODE, self.now_ms)

    def kill(self, after_ms: int) -> None:
        self.store = self.store.crash()
        del self.node, self.machines[NODE]
        for end in (self.medic, self.bed):
            end.contact_lost(NODE, self.now_ms)
        self.now_ms += after_ms

    def go_on(self, for_ms: int) -> None:
        """Let time pass in steps of 50 ms."""
        for _ in range(for_ms // 50):
            self.now_ms += 50
            for number, machine in self.machines.items():
                due_ms = machine.next_timer_ms()
                if due_ms is not None and due_ms <= self.now_ms:
                    machine.timer_due(self.now_ms)
                for datagram in machine.datagrams_to_send(self.now_ms):
                    peer, data = datagram.peer, datagram.data
                    self.machines[peer].receive(data, number, self.now_ms)
                self.events += iter(machine.next_event, None)

    def ask(self, seq: int) -> None:
        options = CompileOptions(stamp_s=self.now_ms // 1000 % 65_536)
        compiled = compile_subscription(read_document(PATIENT), str(PATIENT), self.plan.table, options)
        self.medic.subscribe(compiled_vector(compiled, 0, seq), 1, self.now_ms)

    def measure(self) -> None:
        """Take a reading that matches the medic's subscription, if one is installed at the bed."""
        self.number += 1
        kind = self.plan.table.event("patient")
        reading = Reading(self.plan.table.feature_bytes)
        reading.clear(kind.index, self.number, self.now_ms // 1000)
        for name, value in (("patient_temperature", 250), ("heart_rate", 250), ("oxygen_saturation", 5)):
            reading.set(kind.attribute(name).index, value)
        for language, release in self.watchdog.feed(reading, self.now_ms):
            self.bed.publish(language, release.vector, release.lifetime, self.now_ms)

    def rows(self, table: str) -> list[dict[str, Any]]:
        parts = sorted((self.trace / "trace" / table).glob("part-*.parquet"))
        return [row for part in parts for row in pq.read_table(part).to_pylist()]
