"""A node: a real engine, and for a publisher also the real watchdog and its sensors.

A device with several roles has one node for each of them; only its mediator uses the radio.

Engines, matchers, source filters and the watchdog are those of a real node; the world only supplies the time
and carries frames.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dens.boards.board_host import BoardHost
from dens.interfaces import FilterHost, ResultReader
from dens.node.assembly import assembly_of
from dens.node.filter_host import source_host
from dens.node.recording.matching_meter import MatchingMeter
from dens.node.sources.execution import LocalSources, environment_for
from dens.overlay.assembly import Assembly
from dens.overlay.broker.node import BrokerNode
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.storage.durable_state import init_counters
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import LINK_NUMBER
from dens.overlay.wire.item import ItemId
from emulation.random.rng import RandomStreams
from emulation.scenario import PlannedSensor, Scenario
from emulation.scenario.scenario import NodeSlot
from emulation.scenario.settings.faults import DampingSettings
from emulation.sensors.sampling import Sampler
from emulation.sensors.source import SensorSource
from knowledge_manager.dictionary.local import LocalDataDictionary, LocalSource
from knowledge_manager.mission_table import MissionTable
from plugins.language import Damper, SubscriptionLanguage
from plugins.matching_choice import MatchingChoice
from watchdog.execution import ExecutionEnvironment
from watchdog.watchdog import Watchdog


@dataclass(slots=True)
class Sensor:
    """A sensor of one publisher, the time of its next reading, and its number in the execution
    environment.
    """

    plan: PlannedSensor
    source: SensorSource
    sampler: Sampler
    next_ms: int
    number: int


class WorldSource:
    """The execution environment's stand-in for a sensor of the world, which is read by the clock if it
    runs.
    """

    def start(self) -> None:
        """Do nothing: the sensor belongs to the world."""

    def stop(self) -> None:
        """Do nothing: the sensor belongs to the world."""


_WORLD_SOURCE = WorldSource()
_FIRST_NUMBERS = LINK_NUMBER // 2
"""The limit of first numbers after the loss of a store, so that enough numbers are left."""


@dataclass(slots=True)
class Node:
    """One node of the world. `wake_ms` is the earliest time for which its timer is scheduled, `skew_ms` how
    far its own clock is ahead since `set_ms`.
    """

    slot: NodeSlot
    number: int = field(init=False)
    """The slot's number and device, copied because they are used for every frame."""
    device: int = field(init=False)
    engine: SubscriberEndpoint | DensNode | BrokerNode | PublisherEndpoint
    store: MemoryStore
    wake_ms: int | None = None
    skew_ms: int = 0
    set_ms: int = 0
    meter: MatchingMeter | None = None
    """Counts the work of a mediator's matchers, if the scenario needs it."""
    watchdog: Watchdog | None = None
    environment: ExecutionEnvironment | None = None
    """Decides which sources of a publisher run."""
    sensors: list[Sensor] = field(default_factory=list)
    _numbers: dict[int | None, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.number, self.device = self.slot.number, self.slot.device

    def next_number(self, event: int | None) -> int:
        """Return the number of the next reading of an event class, or of the next document. Each class has
        its own numbers, so that the order within a class is visible.
        """
        self._numbers[event] = number = self._numbers.get(event, 0) + 1
        return number

    def held(self) -> tuple[int, int, int]:
        """Return the number of subscriptions and notifications it holds, and the bytes of the latter."""
        return self.engine.held()


def _hosted(slots: list[NodeSlot]) -> dict[int, frozenset[int]]:
    """Return the subscribers that the mediator of each device hosts."""
    hosted: dict[int, set[int]] = {}
    for slot in slots:
        if slot.role == "subscriber" and slot.number != slot.device:
            hosted.setdefault(slot.device, set()).add(slot.number)
    return {device: frozenset(subscribers) for device, subscribers in hosted.items()}


class NodeFactory:
    """Makes the nodes of a scenario."""

    def __init__(self, scenario: Scenario, streams: RandomStreams) -> None:
        self._scenario = scenario
        self._streams = streams
        self._table: MissionTable = scenario.table
        self._languages: dict[int, SubscriptionLanguage] = scenario.languages
        self._assembly = self._assembly_by(scenario.settings.overlay.matcher)
        self._assemblies = {
            group.name: self._assembly if group.matcher is None else self._assembly_by(group.matcher)
            for group in scenario.settings.group
        }
        self._payloads: dict[ItemId, bytes] = {}
        self._hosts = _hosted(scenario.slots())
        self._lookups = {number: known.lookup(self._table) for number, known in self._languages.items()}
        self._sources_of: dict[str, LocalSources] = {}
        self._damping = {group.name: group.damping for group in scenario.settings.group}

    def _assembly_by(self, matcher: str | None) -> Assembly:
        """Return the factory of engines whose mediators use this matching algorithm."""
        settings = self._scenario.settings
        return assembly_of(
            self._table,
            known=MatchingChoice(matcher).applied(self._languages),
            mission_key=None if settings.security is None else settings.security.mission_key.encode(),
            limits=Limits(**settings.overlay.limits),
            covering=settings.overlay.covering,
            ends_know=settings.overlay.ends_know,
            routing=None if settings.overlay.routing == "carry" else settings.overlay.broker.spared,
        )

    @property
    def results(self) -> Mapping[int, ResultReader]:
        """Return the result readers of languages in which several notifications may have the same result."""
        return self._assembly.mission.results

    @property
    def tag_bytes(self) -> int:
        """Return the size of the tag of every message."""
        return self._assembly.mission.authenticator(0).tag_bytes

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes, in the order of their numbers."""
        for slot in self._scenario.slots():
            node = self._node(slot, MemoryStore(self._payloads), 0)
            node.sensors = [
                self._sensor(plan, slot.number, slot.position)
                for plan in self._plans(slot)
                if plan.at_ms < self._scenario.duration_ms
            ]
            yield node

    def new_store(self, now_ms: int) -> MemoryStore:
        """Return the store of a device that lost its own. Other nodes still know its earlier messages, so its
        numbers begin above those that it may have used, as with real nodes.
        """
        store = MemoryStore()
        init_counters(store, 1 + max(0, now_ms) % _FIRST_NUMBERS)
        return store

    def restart(self, node: Node, store: MemoryStore, now_ms: int) -> None:
        """Give a node a new engine with this store. Its sensors belong to the world and stay."""
        new = self._node(node.slot, store, now_ms)
        node.engine, node.store, node.wake_ms = new.engine, store, None
        node.meter = new.meter
        node.watchdog, node.environment = new.watchdog, new.environment

    def _node(self, slot: NodeSlot, store: MemoryStore, now_ms: int) -> Node:
        if slot.role == "publisher":
            return self._publisher(slot, store, now_ms)
        if slot.role == "mediator":
            number, assembly = slot.number, self._assemblies[slot.group]
            meter = MatchingMeter() if self._scenario.counts_matching(slot.group) else None
            if meter is not None:
                assembly = meter.metered(assembly)
            return Node(slot, self._mediator(assembly, number, store, now_ms), store, meter=meter)
        return Node(slot, self._assembly.subscriber(slot.number, store, now_ms), store)

    def _mediator(
        self, assembly: Assembly, number: int, store: MemoryStore, now_ms: int
    ) -> DensNode | BrokerNode:
        """Return the engine of a mediator: one that carries, or a broker."""
        overlay = self._scenario.settings.overlay
        if overlay.routing != "carry":
            return assembly.broker(number, store, now_ms, overlay.broker.options(overlay.routing))
        return assembly.mediator(
            number,
            store,
            now_ms,
            policy=overlay.replication(number),
            hosts=self._hosts.get(number, frozenset()),
        )

    def _plans(self, slot: NodeSlot) -> list[PlannedSensor]:
        if slot.role != "publisher":
            return []
        return [plan for plan in self._scenario.sensors if plan.group == slot.group]

    def _publisher(self, slot: NodeSlot, store: MemoryStore, now_ms: int) -> Node:
        table, plans = self._table, self._plans(slot)
        damping = self._damping[slot.group]
        # A sensor of the scenario may override the notification lifetime of the vocabulary.
        own = table.with_notification_lifetimes(
            {plan.event.name: plan.event.notification_lifetime_s for plan in plans}
        )
        dampers = self._dampers(damping)
        limits = self._scenario.board_limits(slot.group)
        algorithm = self._scenario.filter_algorithm(slot.group)
        environment = self._environment(slot.group)
        host: FilterHost
        if limits is not None:
            condition = self._scenario.settings.overlay.condition
            board = BoardHost(limits, own, dampers, algorithm, environment, condition)
            host, watchdog = board, board.watchdog
        else:
            advertises = self._scenario.settings.overlay.routing != "carry"
            filters = {
                identity: language.source_filter_by(algorithm, own, advertises=advertises)
                for identity, language in self._languages.items()
                if language.has_own_notifications
            }
            watchdog = Watchdog(filters, dampers=dampers, environment=environment)
            host = source_host(watchdog, slot.number)
        engine = self._assembly.publisher(slot.number, store, now_ms, filter_host=host)
        offered = self._sources(slot.group).dictionary
        if offered.sources:
            lifetime_s = 1 + self._scenario.duration_ms // 1000  # Valid for the whole run.
            engine.announce(offered.extract(counter=1, lifetime_s=lifetime_s), now_ms)
        return Node(slot, engine, store, watchdog=watchdog, environment=environment)

    def _environment(self, group: str) -> ExecutionEnvironment:
        """Return the execution environment of a publisher's sources: on demand, or always running, so that
        the trace has all readings.
        """
        sources = self._sources(group)
        environment = environment_for(sources, dict.fromkeys(sources.pairs, lambda number: _WORLD_SOURCE))
        if not self._scenario.settings.sensing.on_demand:
            for number in range(len(sources.pairs)):
                environment.hold(number)
        return environment

    def _dampers(self, damping: DampingSettings) -> dict[int, Damper]:
        """Return the dampers of the languages that have one."""
        interval_ms = int(1000 * damping.interval_s)
        if not interval_ms and not damping.hysteresis:
            return {}
        return {
            number: language.damper(self._table, interval_ms, damping.hysteresis)
            for number, language in self._languages.items()
            if language.damper is not None
        }

    def _sources(self, group: str) -> LocalSources:
        """Return the sources that every publisher of a group offers: its sensors and its documents."""
        if group not in self._sources_of:
            offered = LocalDataDictionary(self._table)
            documents = [plan for plan in self._scenario.publications if plan.group == group]
            for document in (publication for plan in documents for publication in plan.publications):
                offered.offer(document.event, document.attributes, "file")
            for plan in self._scenario.sensors:
                if plan.group == group:
                    self._offer(offered, plan)
            self._sources_of[group] = LocalSources(offered, self._lookups)
        return self._sources_of[group]

    def _offer(self, offered: LocalDataDictionary, plan: PlannedSensor) -> LocalSource:
        return offered.offer(plan.event.name, plan.attributes, plan.protocol, plan.content_type)

    def _sensor(self, plan: PlannedSensor, number: int, position: int) -> Sensor:
        rng = self._streams.rng("sensor", plan.event.name, number)
        first_ms = plan.at_ms + int(rng.random() * plan.every_ms)
        source = plan.source_for(position, rng, self._scenario.duration_ms)
        error_rng = self._streams.rng("error", plan.event.name, number)
        sampler = Sampler(plan.event, plan.attributes, self._table.feature_bytes, plan.errors, error_rng)
        return Sensor(plan, source, sampler, first_ms, self._number(plan))

    def _number(self, plan: PlannedSensor) -> int:
        """Return a sensor's number; identical sensors of a group share one."""
        sources = self._sources(plan.group)
        return sources.number(self._offer(sources.dictionary, plan))
