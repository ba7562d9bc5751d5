"""Real engines in contacts that overlap: datagrams that are lost, repeated and late, engines that crash and
keep their stores. What is counted are the carriers of a notification.

A *carrier* is a mediator whose store has held the notification as a NOTIFICATION. A copy that came as a
NOTIFY, for the subscribers of a device, makes no carrier.
"""

from dataclasses import dataclass, field
from random import Random

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import NotificationDelivered
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.policies.registry import POLICIES
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.store import Space
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.item import ItemId
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    subscription,
)

Pair = tuple[int, int]
DAY_Q = 132
TOPIC = 1
PUBLISHER, SUBSCRIBER = 100, 200
"""Numbers of publishers and subscribers begin here; mediators begin at 1."""
LIMITS = Limits(ack_delay_ms=0, hello_ms=300, retry_ms=150, retry_most_ms=600)
"""Answers leave at once, so that a round of datagrams is answered by the next one."""


@dataclass
class Faults:
    """What happens to datagrams; but for the latency, shares of them."""

    latency_ms: int = 0
    """What every datagram takes."""
    loss: float = 0.0
    repeat: float = 0.0
    late: float = 0.0
    """Such datagrams take up to two seconds. In a mission with a key they may arrive in a later contact; in
    one without, no link delivers what was sent in an earlier contact."""


@dataclass
class BudgetWorld:
    """Mediators, publishers and subscribers on devices of their own."""

    policy: str
    copies: int
    mediators: int
    publishers: int = 1
    subscribers: int = 1
    key: bytes | None = None
    faults: Faults = field(default_factory=Faults)
    seed: int = 0
    now_ms: int = 0
    engines: dict[int, Engine] = field(default_factory=dict)
    stores: dict[int, MemoryStore] = field(default_factory=dict)
    open: dict[Pair, int] = field(default_factory=dict)
    """Contacts, each with its number."""
    carriers: dict[ItemId, set[int]] = field(default_factory=dict)
    delivered: set[tuple[ItemId, int]] = field(default_factory=set)
    cut: tuple[Pair, str] | None = None
    """In this contact datagrams are lost from the first round with a notification on, or after it."""

    def __post_init__(self) -> None:
        self.chance = Random(self.seed)
        self.nodes = [
            *range(1, self.mediators + 1),
            *range(PUBLISHER, PUBLISHER + self.publishers),
            *range(SUBSCRIBER, SUBSCRIBER + self.subscribers),
        ]
        self.air: list[tuple[int, int, int, bytes, int]] = []
        self.contact_count = 0
        for node in self.nodes:
            self.stores[node] = MemoryStore()
            self._start(node)
            engine = self.engines[node]
            if isinstance(engine, SubscriberEndpoint):
                engine.subscribe(subscription(1, 0, DAY_Q, TOPIC, 0), LANGUAGE, 0)
                engine.datagrams_to_send(0)

    def _start(self, node: int) -> None:
        store = self.stores[node]
        mission = Mission(7, {LANGUAGE: TOPICS}, key=self.key, limits=LIMITS)
        if node < PUBLISHER:
            self.engines[node] = DensNode(
                node,
                mission,
                store,
                self.now_ms,
                directory=TopicDirectory(),
                policy=POLICIES[self.policy](node, **({"copies": self.copies} if self.copies else {})),
            )
        elif node < SUBSCRIBER:
            self.engines[node] = PublisherEndpoint(
                node,
                mission,
                store,
                self.now_ms,
                filter_host=TopicHost(),
            )
        else:
            self.engines[node] = SubscriberEndpoint(node, mission, store, self.now_ms)

    # ------------------------------------------------------------------ what happens

    def begin(self, a: int, b: int) -> None:
        """Let a contact begin, unless it lasts."""
        pair = (min(a, b), max(a, b))
        if pair not in self.open:
            self.contact_count += 1
            self.open[pair] = self.contact_count
            self.engines[a].contact_opened(b, self.now_ms)
            self.engines[b].contact_opened(a, self.now_ms)

    def end(self, a: int, b: int) -> None:
        """Let a contact end, if it lasts."""
        if self.open.pop((min(a, b), max(a, b)), None) is not None:
            self.engines[a].contact_lost(b, self.now_ms)
            self.engines[b].contact_lost(a, self.now_ms)

    def publish(self, publisher: int) -> ItemId:
        """Let a publisher make a notification."""
        end = self.engines[publisher]
        assert isinstance(end, PublisherEndpoint)
        return end.publish(LANGUAGE, bytes((TOPIC, 200)), DAY_Q, self.now_ms)

    def crash(self, node: int) -> None:
        """Let an engine begin again with what was committed. Its peers do not notice."""
        self.stores[node] = self.stores[node].crash()
        self._start(node)
        for pair in self.open:
            if node in pair:
                self.engines[node].contact_opened(sum(pair) - node, self.now_ms)

    # ------------------------------------------------------------------ time

    def run(self, for_ms: int) -> None:
        """Let time pass."""
        end_ms = self.now_ms + for_ms
        while self.now_ms <= end_ms:
            is_busy = self._gather()
            self._arrive()
            self._look()
            if not is_busy and not any(frame[0] <= self.now_ms for frame in self.air):
                timers = [engine.next_timer_ms() for engine in self.engines.values()]
                due = [timer for timer in timers if timer is not None] + [frame[0] for frame in self.air]
                self.now_ms = max(self.now_ms + 1, min(due, default=end_ms + 1))
                for engine in self.engines.values():
                    engine.timer_due(self.now_ms)
        self.now_ms = end_ms

    def _gather(self) -> bool:
        """Put on the air what engines send now."""
        chance, faults, is_busy = self.chance, self.faults, False
        for node, engine in self.engines.items():
            for datagram in engine.datagrams_to_send(self.now_ms):
                is_busy = True
                pair = (min(node, datagram.peer), max(node, datagram.peer))
                if self.cut == (pair, "over"):
                    continue
                for _ in range(2 if chance.random() < faults.repeat else 1):
                    if chance.random() >= faults.loss:
                        late_ms = faults.latency_ms
                        late_ms += chance.randrange(2_000) if chance.random() < faults.late else 0
                        frame = (node, datagram.peer, datagram.data, self.open[pair])
                        self.air.append((self.now_ms + late_ms, *frame))
        return is_busy

    def _arrive(self) -> None:
        arriving = [frame for frame in self.air if frame[0] <= self.now_ms]
        self.air = [frame for frame in self.air if frame[0] > self.now_ms]
        if self.cut is not None:
            pair, when = self.cut
            if when == "over":
                self.end(*pair)
                self.cut = None
            elif any({a, b} == set(pair) and _has_notification(data) for _, a, b, data, _ in arriving):
                if when == "before":
                    arriving = [frame for frame in arriving if {frame[1], frame[2]} != set(pair)]
                self.cut = (pair, "over")
        for _, sender, receiver, data, contact in arriving:
            now_open = self.open.get((min(sender, receiver), max(sender, receiver)))
            if now_open is not None and (now_open == contact or self.key is not None):
                self.engines[receiver].receive(data, sender, self.now_ms)

    def _look(self) -> None:
        """Note who carries what, durably, and what was delivered."""
        for node, engine in self.engines.items():
            while (event := engine.next_event()) is not None:
                if isinstance(event, NotificationDelivered):
                    self.delivered.add((event.item.id, node))
            if isinstance(engine, DensNode):
                for item_id, item in engine.state.items.items():
                    if item.type == MessageType.NOTIFICATION and self.stores[node].holds(Space.ITEM, item_id):
                        self.carriers.setdefault(item_id, set()).add(node)


def _has_notification(data: bytes) -> bool:
    """Return whether a datagram is a notification, or a batch with one."""
    kind = data[1]
    if kind != MessageType.BATCH:
        return kind == MessageType.NOTIFICATION
    at = 18
    while at < len(data):
        size = int.from_bytes(data[at : at + 2], "big")
        if data[at + 3] == MessageType.NOTIFICATION:
            return True
        at += 2 + size
    return False
