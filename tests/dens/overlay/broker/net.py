"""Brokers and their ends in memory, in made-up time; links may lose and delay, nodes may crash.

Brokers are 1 to 99, subscribers from 100 on, publishers from 200 on. An oracle knows all subscriptions
and publications, and nothing of how they travel.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from random import Random

from dens.interfaces import EntryTable, FilterHost
from dens.overlay.assembly import Assembly
from dens.overlay.broker.node import BrokerNode
from dens.overlay.broker.options import BrokerOptions
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import Event, NotificationDelivered
from dens.overlay.limits import Limits
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.storage.durable_state import init_counters
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import NOTIFICATION
from dens.overlay.wire.item import Item, ItemId
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    subscription,
)
from tests.dens.overlay.broker.topic_routing import TABLES, TopicRouting
from tests.dens.overlay.on_air import messages_in

HOUR_Q = 96
QUICK = Limits(hello_ms=50, retry_ms=200, retry_most_ms=1_000, ack_delay_ms=10, session_burst=1_000)

Link = tuple[int, int]


@dataclass
class Air:
    """What happens to frames."""

    loss: float = 0.0
    late_ms: tuple[int, int] = (1, 1)
    seed: int = 0


@dataclass
class Oracle:
    """What should be delivered: a notification to every subscriber that matches it when published."""

    wants: dict[int, dict[int, tuple[int, int]]] = field(default_factory=dict)
    owed: set[tuple[int, ItemId]] = field(default_factory=set)

    def told(self, item_id: ItemId, topic: int, value: int) -> None:
        for subscriber, bodies in self.wants.items():
            if any(topic == one and value >= least for one, least in bodies.values()):
                self.owed.add((subscriber, item_id))


class BrokerNet:
    """A network of brokers."""

    def __init__(
        self,
        links: Iterable[Link],
        *,
        options: BrokerOptions | None = None,
        table: Callable[[], EntryTable] = TABLES["covering"],
        air: Air | None = None,
        limits: Limits = QUICK,
        key: bytes | None = None,
        has_relations: bool = True,
        assembly: Assembly | None = None,
    ) -> None:
        self.options = options or BrokerOptions()
        topics = replace(TOPICS, relations=TopicRouting(table) if has_relations else None)
        self.assembly = assembly or Assembly(
            Mission(7, {LANGUAGE: topics}, key=key, limits=limits), directory=TopicDirectory
        )
        self.air = air or Air()
        self.chance = Random(self.air.seed)
        self.now_ms = 0
        self.engines: dict[int, Engine] = {}
        self.hosts: dict[int, TopicHost] = {}
        self.stores: dict[int, MemoryStore] = {}
        self.links: set[Link] = set()
        self.stopped: set[int] = set()
        """Nodes that are down."""
        self.silent: set[Link] = set()
        """Who is not heard by whom at the moment."""
        self.on_air: list[tuple[int, int, int, int, bytes]] = []
        self._sent = 0
        self.crossings: dict[tuple[ItemId, Link], int] = {}
        """How often each notification was sent over a link between brokers, in either direction."""
        self.words: list[tuple[int, int, Item]] = []
        self.frames: dict[int, tuple[int, int, bytes]] = {}
        """The last datagram that carried each type of message, from whom and to whom."""
        self.events: list[tuple[int, Event]] = []
        self.delivered: list[tuple[int, ItemId]] = []
        self.oracle = Oracle()
        for link in links:
            self.connect(*link)

    # ------------------------------------------------------------------ who there is

    def add(self, node: int) -> None:
        if node not in self.engines:
            self.stores[node] = MemoryStore()
            self._start(node)

    def _start(self, node: int) -> None:
        store, now_ms = self.stores[node], self.now_ms
        if node < 100:
            self.engines[node] = self.assembly.broker(node, store, now_ms, self.options)
        elif node < 200:
            self.engines[node] = self.assembly.subscriber(node, store, now_ms)
        else:
            host = self.filter_host(node)
            self.engines[node] = self.assembly.publisher(node, store, now_ms, filter_host=host)

    def filter_host(self, node: int) -> FilterHost:
        """Return what filters at a source."""
        self.hosts[node] = TopicHost()
        return self.hosts[node]

    def connect(self, a: int, b: int) -> None:
        self.add(a)
        self.add(b)
        self.links.add((min(a, b), max(a, b)))
        self.engines[a].contact_opened(b, self.now_ms)
        self.engines[b].contact_opened(a, self.now_ms)

    def cut(self, a: int, b: int) -> None:
        self.links.discard((min(a, b), max(a, b)))
        self.engines[a].contact_lost(b, self.now_ms)
        self.engines[b].contact_lost(a, self.now_ms)

    def crash(self, node: int, *, has_store: bool = True) -> None:
        """Let a node lose all that it had not committed, or everything, and begin again at once."""
        self.stores[node] = self.stores[node].crash() if has_store else MemoryStore()
        if not has_store:
            init_counters(self.stores[node], 1_000 + self.now_ms)  # as drivers do
        self._start(node)
        for a, b in self.links:
            if node in (a, b) and (other := a + b - node) not in self.stopped:
                self.engines[other].contact_lost(node, self.now_ms)
                self.engines[other].contact_opened(node, self.now_ms)
                self.engines[node].contact_opened(other, self.now_ms)

    def broker(self, node: int) -> BrokerNode:
        engine = self.engines[node]
        assert isinstance(engine, BrokerNode)
        return engine

    @property
    def brokers(self) -> list[BrokerNode]:
        return [one for one in self.engines.values() if isinstance(one, BrokerNode)]

    # ------------------------------------------------------------------ what applications do

    def subscribe(self, node: int, id: int, topic: int, least: int) -> None:
        end = self.engines[node]
        assert isinstance(end, SubscriberEndpoint)
        end.subscribe(subscription(id, end.next_seq(id), HOUR_Q, topic, least), LANGUAGE, self.now_ms)
        self.oracle.wants.setdefault(node, {})[id] = topic, least

    def unsubscribe(self, node: int, id: int) -> None:
        end = self.engines[node]
        assert isinstance(end, SubscriberEndpoint)
        end.unsubscribe(id, self.now_ms)
        del self.oracle.wants[node][id]

    def publisher(self, node: int) -> PublisherEndpoint:
        end = self.engines[node]
        assert isinstance(end, PublisherEndpoint)
        return end

    def advertise(self, node: int, id: int, topic: int, least: int = 0) -> None:
        end = self.publisher(node)
        vector = subscription(id, end.next_advertisement(id), HOUR_Q, topic, least)
        end.advertise(vector, LANGUAGE, self.now_ms)

    def unadvertise(self, node: int, id: int) -> None:
        self.publisher(node).unadvertise(id, self.now_ms)

    def publish(self, node: int, topic: int, value: int) -> ItemId:
        item_id = self.publisher(node).publish(LANGUAGE, bytes((topic, value)), HOUR_Q, self.now_ms)
        self.oracle.told(item_id, topic, value)
        return item_id

    # ------------------------------------------------------------------ time

    def run(self, for_ms: int = 2_000) -> None:
        """Let time pass, from one moment at which something is due to the next."""
        end_ms = self.now_ms + for_ms
        while True:
            self._settle()
            times = [one[0] for one in self.on_air]
            times += [at for one in self._up() if (at := one.next_timer_ms()) is not None]
            next_ms = max(self.now_ms + 1, min(times, default=end_ms + 1))
            if next_ms > end_ms:
                break
            self.now_ms = next_ms
            self._arrive()
            for engine in self._up():
                engine.timer_due(self.now_ms)
        self.now_ms = end_ms

    def _up(self) -> list[Engine]:
        return [engine for node, engine in self.engines.items() if node not in self.stopped]

    def _arrive(self) -> None:
        due = sorted(one for one in self.on_air if one[0] <= self.now_ms)
        self.on_air = [one for one in self.on_air if one[0] > self.now_ms]
        for _, _, sender, receiver, data in due:
            if (min(sender, receiver), max(sender, receiver)) in self.links and receiver not in self.stopped:
                self.engines[receiver].receive(data, sender, self.now_ms)

    def _settle(self) -> None:
        for node, engine in self.engines.items():
            if node in self.stopped:
                continue
            for datagram in engine.datagrams_to_send(self.now_ms):
                self._send(node, datagram.peer, datagram.data)
            while (event := engine.next_event()) is not None:
                self.events.append((node, event))
                if isinstance(event, NotificationDelivered):
                    self.delivered.append((node, event.item.id))

    def _send(self, node: int, peer: int, data: bytes) -> None:
        for item in messages_in(data, self.now_ms):
            self.words.append((node, peer, item))
            self.frames[item.type] = node, peer, data
            if item.type == NOTIFICATION and node < 100 and peer < 100:
                crossing = item.id, (min(node, peer), max(node, peer))
                self.crossings[crossing] = self.crossings.get(crossing, 0) + 1
        if self.chance.random() >= self.air.loss and (node, peer) not in self.silent:
            self._sent += 1
            late_ms = self.chance.randint(*self.air.late_ms)
            self.on_air.append((self.now_ms + late_ms, self._sent, node, peer, data))
