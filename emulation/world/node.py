"""One node: a real engine, and for a publisher the real watchdog and sensors that go with it.

A device with several roles carries one node for each of them; only its mediator is heard on the air.

Nothing here is emulated. The engines, the matchers, the source filters and the watchdog are the ones that
a real node runs; the world only tells them the time and carries their frames.
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
from emulation.random.streams import Streams
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
    """A sensor of one publisher: what it reads, when it reads next, and its number in the execution
    environment."""

    plan: PlannedSensor
    source: SensorSource
    sampler: Sampler
    next_ms: int
    number: int


class WorldSource:
    """What the execution environment starts and stops in place of a sensor, which is the world's: the world's
    clock says when it is read, if it runs."""

    def start(self) -> None:
        """Do nothing: a sensor of the world is always there."""

    def stop(self) -> None:
        """Do nothing: what is not read costs nothing."""


_WORLD_SOURCE = WorldSource()
_FIRST_NUMBERS = LINK_NUMBER // 2
"""Below which numbers begin again, so that enough are left."""


@dataclass(slots=True)
class Node:
    """One node of the world. `wake_ms` is the earliest time at which it is already arranged to be woken,
    `skew_ms` how far its own clock is ahead since the moment `set_ms`."""

    slot: NodeSlot
    number: int = field(init=False)
    """Its number on the air, and the device that carries it: the slot's, at hand for every frame."""
    device: int = field(init=False)
    engine: SubscriberEndpoint | DensNode | BrokerNode | PublisherEndpoint
    store: MemoryStore
    wake_ms: int | None = None
    skew_ms: int = 0
    set_ms: int = 0
    meter: MatchingMeter | None = None
    """Counts what its matchers do, where somebody wants to know; on mediators."""
    watchdog: Watchdog | None = None
    environment: ExecutionEnvironment | None = None
    """Says which of its sources run; on publishers."""
    sensors: list[Sensor] = field(default_factory=list)
    _numbers: dict[int | None, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.number, self.device = self.slot.number, self.slot.device

    def next_number(self, event: int | None) -> int:
        """Return the number of the next reading of an event class, or of the next document: they are numbered
        apart, so that what follows what can be told from the numbers of one class.
        """
        self._numbers[event] = number = self._numbers.get(event, 0) + 1
        return number

    def held(self) -> tuple[int, int, int]:
        """Return how many subscriptions and notifications it holds, and the bytes of the latter."""
        return self.engine.held()


def _hosted(slots: list[NodeSlot]) -> dict[int, frozenset[int]]:
    """Return for each device whose mediator hosts subscribers which ones."""
    found: dict[int, set[int]] = {}
    for slot in slots:
        if slot.role == "subscriber" and slot.number != slot.device:
            found.setdefault(slot.device, set()).add(slot.number)
    return {device: frozenset(ends) for device, ends in found.items()}


class NodeFactory:
    """Makes the nodes of a scenario."""

    def __init__(self, scenario: Scenario, streams: Streams) -> None:
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
        """Return what makes engines of which the mediators match by this algorithm."""
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
        """Return what reads what notifications say, in languages in which several may say the same."""
        return self._assembly.mission.results

    @property
    def tag_bytes(self) -> int:
        """Return how many bytes of every message are its tag."""
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
        """Return the store of a device that lost its own. Others still know what it said before, so its
        numbers begin above those that it may have used, as those of real nodes do.
        """
        store = MemoryStore()
        init_counters(store, 1 + max(0, now_ms) % _FIRST_NUMBERS)
        return store

    def restart(self, node: Node, store: MemoryStore, now_ms: int) -> None:
        """Give a node a new engine that begins with this store. Its sensors are the world's, and go on."""
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
        """Return what a mediator of this scenario is: one that carries, or a broker."""
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
        # A sensor of the scenario may say how long its notifications live, whatever the vocabulary says.
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
            lifetime_s = 1 + self._scenario.duration_ms // 1000  # Believed for the whole run.
            engine.announce(offered.extract(counter=1, lifetime_s=lifetime_s), now_ms)
        return Node(slot, engine, store, watchdog=watchdog, environment=environment)

    def _environment(self, group: str) -> ExecutionEnvironment:
        """Return what runs the sources of a publisher: while somebody asks, or always, so that the trace has
        what nobody asked for too.
        """
        sources = self._sources(group)
        environment = environment_for(sources, dict.fromkeys(sources.pairs, lambda number: _WORLD_SOURCE))
        if not self._scenario.settings.sensing.on_demand:
            for number in range(len(sources.pairs)):
                environment.hold(number)
        return environment

    def _dampers(self, damping: DampingSettings) -> dict[int, Damper]:
        """Return what holds back repetitions, for the languages that have such a thing."""
        interval_ms = int(1000 * damping.interval_s)
        if not interval_ms and not damping.hysteresis:
            return {}
        return {
            number: language.damper(self._table, interval_ms, damping.hysteresis)
            for number, language in self._languages.items()
            if language.damper is not None
        }

    def _sources(self, group: str) -> LocalSources:
        """Return what every publisher of a group offers: its sensors and its documents."""
        if group not in self._sources_of:
            offered = LocalDataDictionary(self._table)
            documents = [plan for plan in self._scenario.publications if plan.group == group]
            for told in (publication for plan in documents for publication in plan.publications):
                offered.offer(told.event, told.attributes, "file")
            for plan in self._scenario.sensors:
                if plan.group == group:
                    self._offer(offered, plan)
            self._sources_of[group] = LocalSources(offered, self._lookups)
        return self._sources_of[group]

    def _offer(self, offered: LocalDataDictionary, plan: PlannedSensor) -> LocalSource:
        return offered.offer(plan.event.name, plan.attributes, plan.protocol, plan.content_type)

    def _sensor(self, plan: PlannedSensor, number: int, position: int) -> Sensor:
        chance = self._streams.stream("sensor", plan.event.name, number)
        first_ms = plan.at_ms + int(chance.random() * plan.every_ms)
        source = plan.source_for(position, chance, self._scenario.duration_ms)
        errs = self._streams.stream("error", plan.event.name, number)
        sampler = Sampler(plan.event, plan.attributes, self._table.feature_bytes, plan.errors, errs)
        return Sensor(plan, source, sampler, first_ms, self._number(plan))

    def _number(self, plan: PlannedSensor) -> int:
        """Return a sensor's number; those of a group that measure the same in the same way share one."""
        sources = self._sources(plan.group)
        return sources.number(self._offer(sources.dictionary, plan))
