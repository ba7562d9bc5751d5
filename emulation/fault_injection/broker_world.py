"""A world of brokers: a tree of links that break, brokers and endpoints that crash, under the same faults.

It begins without faults: publishers advertise, subscribers subscribe, and the routing tables of the brokers
converge. Then the faults begin. A notification published from then on is expected by every subscription that
was propagated before and is still in force at the end. After the links have healed, each publisher publishes
once more, and every subscription in force expects that too.
"""

from dataclasses import replace
from random import Random
from typing import Final

from dens.interfaces import EntryTable
from dens.overlay.assembly import Assembly
from dens.overlay.broker.options import BrokerOptions
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.session.engine import Engine
from dens.overlay.storage.durable_state import init_counters
from dens.overlay.storage.memory import MemoryStore
from emulation.fault_injection.plan import Faults
from emulation.fault_injection.topics import LANGUAGE, TopicError, subscription, topic_covers
from emulation.fault_injection.world import Pair, World
from plugins.routing import CoveringTable

_PATIENCE_MS: Final = 3_000_000
"""Longer than any world lasts, so that no neighbour is given up."""
_CALM_MS: Final = 6_000
_ADVERTISED_Q: Final = 140
"""About two days."""
_TOPICS: Final = (1, 2)


class TopicRelations:
    """The routing relations of the topic language. All of them are exact."""

    def includes(self, one: bytes, other: bytes) -> bool:
        """Return whether one advertisement covers another."""
        if len(one) != 2 or len(other) != 2:
            raise TopicError("an advertisement is a topic and a least value", len(one))
        return topic_covers(one, other)

    def advertises(self, advertisement: bytes, wanted: bytes) -> bool:
        """Return whether notifications of this advertisement may satisfy a subscription."""
        return advertisement[0] == wanted[0]

    def admits(self, advertisement: bytes, vector: bytes) -> bool:
        """Return whether a notification was advertised."""
        return advertisement[0] == vector[0] and vector[1] >= advertisement[1]

    def table(self) -> EntryTable:
        """Return an empty table in which lower least values cover higher ones."""
        return CoveringTable(topic_covers)


class BrokerWorld(World):
    """Subscribers and publishers, each at one broker, and a tree of brokers."""

    def _assembled(self) -> Assembly:
        assembly = super()._assembled()
        languages = dict(assembly.mission.languages)
        languages[LANGUAGE] = replace(languages[LANGUAGE], relations=TopicRelations())
        return replace(assembly, mission=replace(assembly.mission, languages=languages))

    def _draw_links(self) -> tuple[Pair, ...]:
        """Return the links of this world: a tree of brokers, with every endpoint at one of them."""
        rng = Random(f"links {self.seed}")
        brokers = self.mediators
        tree = [(rng.choice(brokers[:at]), brokers[at]) for at in range(1, len(brokers))]
        endpoints = [(rng.choice(brokers), node) for node in (*self.subscribers, *self.publishers)]
        return tuple((min(pair), max(pair)) for pair in tree + endpoints)

    def _mediator(self, node: int, now_ms: int) -> Engine:
        plan = self.plan
        options = BrokerOptions(
            floods=plan.routing == "flood", advertisements=plan.advertises, patience_ms=_PATIENCE_MS
        )
        return self._assembly.broker(node, self.stores[node], now_ms, options)

    def crash(self, node: int) -> None:
        """Let a node crash; a broker may lose its store too."""
        was_up = node not in self.down
        super().crash(node)
        if was_up and self.plan.empty_stores and node in self.mediators and self.rng.random() < 0.5:
            store = MemoryStore()
            init_counters(store, 1_000_000 + self.now_ms)  # Like a real node, by the clock.
            self.stores[node] = store
            self.checker.lost_store(node)

    def _open_all(self, for_ms: int) -> None:
        for a, b in self.links:
            self.open(a, b, for_ms)

    def live_through(self) -> None:
        """Wait until subscriptions are propagated, then publish, withdraw, crash and cut links."""
        plan, rng, faults = self.plan, self.rng, self.faults
        self.links = self._draw_links()
        lasting_ms = 100 * (plan.duration_ms + plan.heal_ms)
        self._stop_faults(Faults())
        self._open_all(lasting_ms)
        for publisher in self.publishers:
            self._advertise(publisher)
        for subscriber in self.subscribers:
            for id in plan.ids:
                self.applications.subscribe(subscriber, id)
        self.run(self.now_ms + _CALM_MS)
        self.applications.settled()
        self.faults = faults
        begin_ms, end_ms = self.now_ms, self.now_ms + plan.duration_ms

        def cut() -> None:
            pair = rng.choice(self.links)
            self.close(pair)
            self.at(self.now_ms + rng.randrange(200, 5_000), lambda: self.open(*pair, lasting_ms))

        for at_ms in range(begin_ms, end_ms, plan.contact_every_ms):
            if rng.random() < 0.5:
                self.at(at_ms + rng.randrange(plan.contact_every_ms), cut)
        for at_ms in range(begin_ms, end_ms, plan.operation_every_ms):
            self.at(at_ms + rng.randrange(plan.operation_every_ms), self.applications.operate)
        for at_ms in range(begin_ms, end_ms, 1_000):
            self._arrange_trouble(at_ms)
        self.run(end_ms)

    def _advertise(self, node: int) -> None:
        publisher = self.machines[node]
        assert isinstance(publisher, PublisherEndpoint)
        for topic in _TOPICS:
            publisher.advertise(subscription(topic, 0, _ADVERTISED_Q, topic, 0), LANGUAGE, self.local(node))
        self.turn(node, by_application=True)

    def heal(self, for_ms: int | None = None, faults: Faults | None = None) -> None:
        """Stop the faults (or keep only these), open all links and let expected deliveries arrive. Then every
        publisher publishes once more, and that is delivered too.
        """
        self._stop_faults(faults)
        lasting_ms = self.plan.heal_ms if for_ms is None else for_ms
        self._open_all(100 * lasting_ms)
        self._settle(self.now_ms + lasting_ms)
        self.run(self.now_ms + _CALM_MS)
        self.applications.settled()
        for publisher in self.publishers:
            for topic in _TOPICS:
                self.applications.publish(publisher, bytes((topic, 255)))
        self._settle(self.now_ms + lasting_ms)
