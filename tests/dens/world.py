"""A small deterministic world that drives real engines from one seed, and an auditor that checks every step.

Time is a heap of things to do. Links lose, repeat, delay (and so reorder) and corrupt; nodes crash at any
step, between `datagrams_to_send` and the draining of events too, and restart from what was committed. The
auditor keeps its own ledger from events and bytes alone and compares it with what SPEC §8 promises.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random
from typing import Any

from dens.engine import Engine
from dens.envelope import read_header
from dens.events import CopyDropped, Event, MessageAcknowledged, MessageExpired, NotificationDelivered
from dens.item import LIFETIME_MS
from dens.limits import Limits
from dens.messages import Notify
from dens.node import DensNode
from dens.numbers import MessageType
from dens.policies.policy import ReplicationPolicy
from dens.publisher import PublisherEnd
from dens.seal import TAG_BYTES, Sealer
from dens.store import Space
from dens.stores.memory import MemoryStore
from dens.subscriber import SubscriberEnd
from dens.subscription_table import is_newer
from tests.dens.topics import LANGUAGE, TopicDirectory, TopicHost, TopicMatcher, matches, subscription

ItemId = tuple[int, int]
TABLE_CHECK = 77


@dataclass(frozen=True)
class Faults:
    """What may go wrong, as probabilities per datagram or per step."""

    loss: float = 0.0
    repeat: float = 0.0
    slow: float = 0.0
    corrupt: float = 0.0
    crash: float = 0.0


@dataclass(frozen=True)
class Plan:
    """How large a world is and how it behaves."""

    subscribers: int = 2
    mediators: int = 4
    publishers: int = 2
    duration_ms: int = 50_000
    contact_every_ms: int = 1_500
    contact_ms: tuple[int, int] = (200, 9_000)
    operation_every_ms: int = 1_500
    faults: Faults = field(default_factory=Faults)
    mission_key: bytes | None = b"mission"
    limits: Limits = field(default_factory=Limits)
    policy: Callable[[int], ReplicationPolicy] | None = None
    notification_q: tuple[int, int] = (40, 90)
    subscription_q: tuple[int, int] = (48, 90)
    withdraws: bool = True
    store: Callable[[int], Any] = lambda node: MemoryStore()
    """Makes the store of a node: it has `crash()`, which returns what a restart finds."""


@dataclass
class Asked:
    """One subscription revision as its application knows it."""

    subscriber: int
    id: int
    seq: int
    vector: bytes
    since_ms: int
    until_ms: int
    over_ms: int | None = None
    """When it was withdrawn or replaced."""

    def is_owed(self, event_ms: int, vector: bytes) -> bool:
        end_ms = self.until_ms if self.over_ms is None else min(self.until_ms, self.over_ms)
        return self.since_ms <= event_ms < end_ms and matches(self.vector, vector)


@dataclass(frozen=True)
class Published:
    """One notification as its publisher knows it."""

    id: ItemId
    event_ms: int
    until_ms: int
    vector: bytes


class World:
    """Nodes 1..n: subscribers, then mediators, then publishers."""

    def __init__(self, seed: int, plan: Plan) -> None:
        self.plan = plan
        self.now_ms = 0
        self.chance = Random(seed)
        self.faults = plan.faults
        self._agenda: list[tuple[int, int, Callable[[], None]]] = []
        self._order = 0
        first_mediator = 1 + plan.subscribers
        first_publisher = first_mediator + plan.mediators
        self.subscribers = range(1, first_mediator)
        self.mediators = range(first_mediator, first_publisher)
        self.publishers = range(first_publisher, first_publisher + plan.publishers)
        self.skew_ms = {node: self.chance.randrange(10**9) for node in self.all_nodes()}
        self.stores = {node: plan.store(node) for node in self.all_nodes()}
        self.hosts: dict[int, TopicHost] = {}
        self.machines: dict[int, Engine] = {}
        self.contacts: dict[tuple[int, int], int] = {}
        self.contact_log: list[tuple[int, int, int, int]] = []
        self.asked: list[Asked] = []
        self.published: dict[ItemId, Published] = {}
        self.delivered: dict[tuple[int, ItemId], int] = {}
        self.acknowledged: dict[int, dict[ItemId, int]] = {node: {} for node in self.mediators}
        self.gone: dict[int, set[ItemId]] = {node: set() for node in self.all_nodes()}
        self.withdrawn_at: dict[int, dict[tuple[int, int], int]] = {node: {} for node in self.mediators}
        self.frames: list[tuple[int, int, bytes]] = []
        self.crashes = 0
        for node in self.all_nodes():
            self._start(node)

    def all_nodes(self) -> range:
        return range(1, self.publishers.stop)

    def local(self, node: int) -> int:
        """Return what the node's own clock shows: no two agree."""
        return self.now_ms + self.skew_ms[node]

    # ------------------------------------------------------------------ nodes

    def _start(self, node: int) -> None:
        store, now_ms, limits = self.stores[node], self.local(node), self.plan.limits
        sealer = Sealer(node, self.plan.mission_key)
        if node in self.subscribers:
            machine: Engine = SubscriberEnd(node, TABLE_CHECK, store, now_ms, sealer=sealer, limits=limits)
        elif node in self.publishers:
            host = self.hosts[node] = TopicHost()
            machine = PublisherEnd(
                node, TABLE_CHECK, store, now_ms, filter_host=host, sealer=sealer, limits=limits
            )
            machine.announce(b"\x01\x02", now_ms)
        else:
            machine = DensNode(
                node,
                TABLE_CHECK,
                store,
                now_ms,
                matchers={LANGUAGE: TopicMatcher},
                directory=TopicDirectory(),
                policy=None if self.plan.policy is None else self.plan.policy(node),
                sealer=sealer,
                limits=limits,
            )
        self.machines[node] = machine
        for a, b in self.contacts:
            if node in (a, b):
                machine.contact_opened(a + b - node, now_ms)
        self.turn(node)

    def crash(self, node: int) -> None:
        """Throw the engine away with everything that was not committed, and make a new one."""
        self.crashes += 1
        self.stores[node] = self.stores[node].crash()
        self._start(node)
        if node in self.mediators:
            self._check_nothing_acknowledged_is_lost(node)

    # ------------------------------------------------------------------ time

    def at(self, at_ms: int, do: Callable[[], None]) -> None:
        self._order += 1
        heappush(self._agenda, (at_ms, self._order, do))

    def run(self, until_ms: int) -> None:
        """Do what is due until then."""
        while self._agenda and self._agenda[0][0] <= until_ms:
            self.now_ms, _, do = heappop(self._agenda)
            do()
        self.now_ms = until_ms

    def turn(self, node: int) -> None:
        """Let a node speak after any verb, arrange its next timer, and check what it promises."""
        machine = self.machines[node]
        out = machine.datagrams_to_send(self.local(node))
        for datagram in out:
            self._check_outgoing(node, datagram.peer, datagram.data)
            self._carry(node, datagram.peer, datagram.data)
        if self.faults.crash and self.chance.random() < self.faults.crash:
            self.at(self.now_ms, lambda: self.crash(node))
            return
        while (event := machine.next_event()) is not None:
            self._note(node, event)
        timer = machine.next_timer_ms()
        if timer is not None:
            self.at(max(timer - self.skew_ms[node], self.now_ms + 1), lambda: self._timer(node, machine))
        self._check_bounds(node)

    def _timer(self, node: int, machine: Engine) -> None:
        due = machine.next_timer_ms()
        if self.machines[node] is machine and due is not None and due <= self.local(node):
            machine.timer_due(self.local(node))
            self.turn(node)

    # ------------------------------------------------------------------ links

    def open(self, a: int, b: int, for_ms: int) -> None:
        pair = (min(a, b), max(a, b))
        end_ms = self.now_ms + for_ms
        if pair in self.contacts:
            return
        self.contacts[pair] = end_ms
        self.contact_log.append((*pair, self.now_ms, end_ms))
        for node, peer in (pair, pair[::-1]):
            self.machines[node].contact_opened(peer, self.local(node))
            self.turn(node)
        self.at(end_ms, lambda: self.close(pair) if self.contacts.get(pair) == end_ms else None)

    def close(self, pair: tuple[int, int]) -> None:
        if self.contacts.pop(pair, None) is not None:
            for node, peer in (pair, pair[::-1]):
                self.machines[node].contact_lost(peer, self.local(node))
                self.turn(node)

    def _carry(self, node: int, peer: int, data: bytes) -> None:
        chance, faults = self.chance, self.faults
        self.frames.append((node, peer, data))
        copies = 2 if faults.repeat and chance.random() < faults.repeat else 1
        for _ in range(copies):
            if faults.loss and chance.random() < faults.loss:
                continue
            delay_ms = 2 + (chance.randrange(3_000) if faults.slow and chance.random() < faults.slow else 0)
            arrives = data
            if faults.corrupt and chance.random() < faults.corrupt:
                position = chance.randrange(len(data))
                flipped = data[position] ^ (1 << chance.randrange(8))
                arrives = data[:position] + bytes((flipped,)) + data[position + 1 :]
            self.at(self.now_ms + delay_ms, lambda arrives=arrives: self._arrive(node, peer, arrives))  # type: ignore[misc]

    def _arrive(self, node: int, peer: int, data: bytes) -> None:
        if (min(node, peer), max(node, peer)) in self.contacts:
            self.machines[peer].receive(data, node, self.local(peer))
            self.turn(peer)

    # ------------------------------------------------------------------ applications

    def operate(self) -> None:
        """Do one thing that an application would do."""
        chance = self.chance
        kind = chance.random()
        if kind < 0.25:
            self.subscribe(chance.choice(self.subscribers), chance.randrange(3))
        elif kind < 0.32 and self.plan.withdraws:
            self.unsubscribe(chance.choice(self.subscribers))
        elif kind < 0.37 and self.plan.withdraws:
            self.renew(chance.choice(self.subscribers))
        else:
            self.publish(chance.choice(self.publishers))

    def _subscriber(self, node: int) -> SubscriberEnd:
        machine = self.machines[node]
        assert isinstance(machine, SubscriberEnd)
        return machine

    def _live(self, node: int) -> list[Asked]:
        """Return what the node itself has in force: an unsynced revision is gone after a crash."""
        held = {(one.id, one.seq) for one in self._subscriber(node).in_force}
        return [
            one
            for one in self.asked
            if one.subscriber == node
            and (one.id, one.seq) in held
            and one.over_ms is None
            and self.now_ms < one.until_ms
        ]

    def subscribe(self, node: int, id: int) -> None:
        machine = self._subscriber(node)
        older = [one for one in self.asked if one.subscriber == node and one.id == id]
        if older and not self.plan.withdraws:
            return
        seq = (older[-1].seq + 1 + self.chance.randrange(3)) % 256 if older else self.chance.randrange(256)
        q = self.chance.randrange(*self.plan.subscription_q)
        vector = subscription(id, seq, q, self.chance.choice((1, 2)), self.chance.randrange(0, 200, 20))
        machine.subscribe(vector, LANGUAGE, self.local(node))
        for one in older:
            one.over_ms = one.over_ms or self.now_ms
        self.asked.append(Asked(node, id, seq, vector, self.now_ms, self.now_ms + LIFETIME_MS[q]))
        self.turn(node)

    def unsubscribe(self, node: int) -> None:
        live = self._live(node)
        if live:
            one = self.chance.choice(live)
            self._subscriber(node).unsubscribe(one.id, self.local(node))
            one.over_ms = self.now_ms
            self.turn(node)

    def renew(self, node: int) -> None:
        live = self._live(node)
        if live:
            one = self.chance.choice(live)
            self._subscriber(node).renew(one.id, self.plan.subscription_q[1], self.local(node))
            one.until_ms = self.now_ms + LIFETIME_MS[self.plan.subscription_q[1]]
            self.turn(node)

    def publish(self, node: int) -> None:
        machine = self.machines[node]
        assert isinstance(machine, PublisherEnd)
        vector = bytes((self.chance.choice((1, 2)), self.chance.randrange(256)))
        q = self.chance.randrange(*self.plan.notification_q)
        item_id = machine.publish(LANGUAGE, vector, q, self.local(node))
        self.published[item_id] = Published(item_id, self.now_ms, self.now_ms + LIFETIME_MS[q], vector)
        self.turn(node)

    # ------------------------------------------------------------------ the auditor

    def _note(self, node: int, event: Event) -> None:
        if isinstance(event, NotificationDelivered):
            self._check_delivery(node, event)
        elif isinstance(event, CopyDropped | MessageExpired):
            self.gone[node].add(event.item.id)
        elif isinstance(event, MessageAcknowledged) and event.reason is None and event.peer in self.mediators:
            # Invariants 1 and 2: acknowledged means durable there, or known to be done with.
            item_id = event.item.id
            if event.item.type in (MessageType.SUBSCRIBE, MessageType.RENEW, MessageType.NOTIFICATION):
                assert item_id in self._durable(event.peer) or item_id in self.gone[event.peer]
                self.acknowledged[event.peer][item_id] = event.item.expires_ms - self.skew_ms[node]

    def _durable(self, node: int) -> set[ItemId]:
        rows = self.stores[node].load()
        return {key for space, key, _ in rows if space in (Space.ITEM, Space.KNOWN)}

    def _check_nothing_acknowledged_is_lost(self, node: int) -> None:
        known = self.machines[node]._ledger.known
        for item_id, until_ms in self.acknowledged[node].items():
            if item_id not in self.gone[node] and self.now_ms < until_ms:
                assert item_id in known, f"{node} acknowledged {item_id} and lost it in a crash"

    def _check_delivery(self, node: int, event: NotificationDelivered) -> None:
        published = self.published[event.item.id]
        place = (node, published.id)
        assert place not in self.delivered, f"{node} saw {published.id} twice"  # invariant 3
        self.delivered[place] = self.now_ms
        assert event.item.payload == published.vector
        assert event.satisfied
        for id, seq, _ in event.satisfied:
            [one] = [one for one in self.asked if (one.subscriber, one.id, one.seq) == (node, id, seq)]
            # Ages grow at holders, not in the air, so event times are off by what the links took.
            slack_ms = 15_000 if self.plan.faults.slow else 100
            assert one.since_ms - slack_ms <= published.event_ms < one.until_ms + slack_ms
            assert matches(one.vector, published.vector)

    def _check_outgoing(self, node: int, peer: int, data: bytes) -> None:
        header = read_header(data)
        if node not in self.mediators or header.type != MessageType.NOTIFY:
            return
        # Invariant 4: a node that holds the tombstone forwards nothing for what it withdraws.
        machine = self.machines[node]
        assert isinstance(machine, DensNode)
        buried = {(one.item.origin, one.id): one.seq for one in machine._table.tombstones()}
        end = len(data) - TAG_BYTES if header.is_sealed else len(data)
        for id, seq, _ in Notify.decode(data[16:end]).satisfied:
            assert (peer, id) not in buried or is_newer(seq, buried[peer, id])
            current = machine._table.get((peer, id))
            assert current is not None or (peer, id) not in buried

    def _check_bounds(self, node: int) -> None:
        machine, limits = self.machines[node], self.plan.limits
        if isinstance(machine, DensNode):  # invariant 7
            assert machine.notification_count <= limits.notification_items
            assert machine.notification_bytes <= limits.notification_bytes
            assert machine.subscription_count <= limits.subscriptions
            assert len(machine._receipts) <= limits.receipts
            for tombstone in machine._table.tombstones():
                current = machine._table.get((tombstone.item.origin, tombstone.id))
                assert current is None or is_newer(current.seq, tombstone.seq)

    # ------------------------------------------------------------------ whole runs

    def live_through(self) -> None:
        """Plan random contacts and operations for the duration, then run."""
        plan, chance = self.plan, self.chance
        nodes = list(self.all_nodes())

        def meet() -> None:
            a, b = chance.sample(nodes, 2)
            self.open(a, b, chance.randrange(*plan.contact_ms))

        for at_ms in range(0, plan.duration_ms, plan.contact_every_ms):
            self.at(at_ms + chance.randrange(plan.contact_every_ms), meet)
        for at_ms in range(0, plan.duration_ms, plan.operation_every_ms):
            self.at(at_ms + chance.randrange(plan.operation_every_ms), self.operate)
        self.run(plan.duration_ms)

    def heal(self, for_ms: int, faults: Faults | None = None) -> None:
        """Stop the faults (or leave these), connect everybody, and let what is owed arrive."""
        self.faults = faults or Faults()
        nodes = list(self.all_nodes())
        for a in nodes:
            for b in nodes:
                if a < b:
                    self.close((a, b))
                    self.open(a, b, for_ms + 1)
        self.run(self.now_ms + for_ms)

    def owed_and_missing(self, as_of_ms: int) -> list[tuple[int, ItemId]]:
        """Return what should have been delivered by then and was not."""
        missing = []
        for published in self.published.values():
            if published.until_ms <= as_of_ms + 1_000:
                continue
            for one in self.asked:
                place = (one.subscriber, published.id)
                is_owed = one.over_ms is None and one.is_owed(published.event_ms, published.vector)
                if is_owed and place not in self.delivered:
                    missing.append(place)
        return missing
