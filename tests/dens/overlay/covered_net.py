"""A small world without loss in which mediators may spare installs: contacts are scripted, and time passes
as the machines ask for it.
"""

from dataclasses import replace

from dens.interfaces import CoverIndexFactory
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import Event, InstallSpared, NotificationDelivered
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import INSTALL, REMOVE
from dens.overlay.wire.item import Item, ItemId
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicCovers,
    TopicDirectory,
    TopicHost,
    subscription,
)
from tests.dens.overlay.on_air import messages_in

MEDIC, DRIVER, FIRST, SECOND, SOURCE = 1, 2, 3, 4, 5
"""Two subscribers, two mediators, a source."""
HOUR_Q = 96
"""4,096 s."""
QUICK = Limits(hello_ms=50, retry_ms=200, ack_delay_ms=10, linger_ms=60_000)


class CoveredNet:
    """Two subscribers, two mediators and a source that measures topics 1 and 2."""

    def __init__(
        self,
        covers: CoverIndexFactory | None,
        *,
        source_covers: bool | None = None,
        limits: Limits = QUICK,
        most_bytes: int = 4,
    ) -> None:
        self.now_ms = 0
        self._covers, self._limits, self._most_bytes = covers, limits, most_bytes
        self._language = replace(TOPICS, covers=covers)
        self._source_covers = covers is not None if source_covers is None else source_covers
        self._stores = {node: MemoryStore() for node in (MEDIC, DRIVER, FIRST, SECOND, SOURCE)}
        self.host = TopicHost()
        self.engines: dict[int, Engine] = {}
        self.links: set[tuple[int, int]] = set()
        self.delivered: set[tuple[int, ItemId]] = set()
        self.events: list[tuple[int, Event]] = []
        self.sent: list[tuple[int, int, Item]] = []
        for node in self._stores:
            self._start(node)

    def _start(self, node: int) -> None:
        store, now_ms, limits = self._stores[node], self.now_ms, self._limits
        if node in (MEDIC, DRIVER):
            self.engines[node] = SubscriberEndpoint(node, Mission(7, limits=limits), store, now_ms)
        elif node == SOURCE:
            self.host = TopicHost(most_bytes=self._most_bytes)
            end = PublisherEndpoint(
                node,
                Mission(7, limits=limits, covering=self._source_covers),
                store,
                now_ms,
                filter_host=self.host,
            )
            end.announce(b"\x01\x02", now_ms)
            self.engines[node] = end
        else:
            self.engines[node] = DensNode(
                node,
                Mission(7, {LANGUAGE: self._language}, limits=limits, covering=self._covers is not None),
                store,
                now_ms,
                directory=TopicDirectory(),
            )

    def crash(self, node: int) -> None:
        self._stores[node] = self._stores[node].crash()
        self._start(node)
        for a, b in self.links:
            if node in (a, b):
                self.engines[node].contact_opened(a + b - node, self.now_ms)
        self.run()

    def meet(self, *nodes: int, for_good: bool = False) -> None:
        """Let these meet each other, exchange what they have to say, and part unless it is for good."""
        pairs = [(a, b) for a in nodes for b in nodes if a < b and not {a, b} <= {MEDIC, DRIVER, SOURCE}]
        new = [pair for pair in pairs if pair not in self.links]
        for a, b in new:
            self.links.add((a, b))
            self.engines[a].contact_opened(b, self.now_ms)
            self.engines[b].contact_opened(a, self.now_ms)
        self.run()
        if not for_good:
            self.part(new)

    def part(self, pairs: list[tuple[int, int]] | None = None) -> None:
        for a, b in sorted(self.links) if pairs is None else pairs:
            self.links.remove((a, b))
            self.engines[a].contact_lost(b, self.now_ms)
            self.engines[b].contact_lost(a, self.now_ms)
        self.run(0)

    def run(self, for_ms: int = 1_000) -> None:
        """Let time pass, from one due timer to the next."""
        end_ms = self.now_ms + for_ms
        while True:
            is_busy = True
            while is_busy:
                is_busy = False
                for node, engine in self.engines.items():
                    engine.timer_due(self.now_ms)
                    for datagram in engine.datagrams_to_send(self.now_ms):
                        is_busy = True
                        self.sent += [
                            (node, datagram.peer, item) for item in messages_in(datagram.data, self.now_ms)
                        ]
                        self.engines[datagram.peer].receive(datagram.data, node, self.now_ms)
                    while (event := engine.next_event()) is not None:
                        self.events.append((node, event))
                        if isinstance(event, NotificationDelivered):
                            self.delivered.add((node, event.item.id))
            timers = [at_ms for one in self.engines.values() if (at_ms := one.next_timer_ms()) is not None]
            at_ms = max(min(timers, default=end_ms + 1), self.now_ms + 1)
            if at_ms > end_ms:
                break
            self.now_ms = at_ms
        self.now_ms = end_ms

    # ------------------------------------------------------------------ what applications do

    def subscriber(self, node: int) -> SubscriberEndpoint:
        engine = self.engines[node]
        assert isinstance(engine, SubscriberEndpoint)
        return engine

    def ask(self, node: int, id: int, topic: int, least: int, seq: int = 0, lifetime_q: int = HOUR_Q) -> None:
        vector = subscription(id, seq, lifetime_q, topic, least)
        self.subscriber(node).subscribe(vector, LANGUAGE, self.now_ms)
        self.run()

    def withdraw(self, node: int, id: int) -> None:
        self.subscriber(node).unsubscribe(id, self.now_ms)
        self.run()

    def read(self, topic: int, value: int) -> ItemId | None:
        """Let the source take a reading; it publishes it if an installed subscription matches."""
        vector = bytes((topic, value))
        source = self.engines[SOURCE]
        assert isinstance(source, PublisherEndpoint)
        if not self.host.wants(vector, self.now_ms):
            return None
        item_id = source.publish(LANGUAGE, vector, HOUR_Q, self.now_ms)
        self.run()
        return item_id

    # ------------------------------------------------------------------ what can be seen

    def filters(self) -> dict[tuple[int, int], bytes]:
        """Return what the source looks for."""
        return {
            key: body for key, (_, body, until_ms) in self.host.installed.items() if until_ms > self.now_ms
        }

    def told(self, type: int, by: int | None = None) -> list[tuple[int, int]]:
        """Return (subscriber, id) of the installs or removals that the source was sent, in their order."""
        return [
            (item.origin, item.payload[0])
            for node, peer, item in self.sent
            if peer == SOURCE and item.type == type and by in (None, node)
        ]

    def installs(self, by: int | None = None) -> list[tuple[int, int]]:
        return self.told(INSTALL, by)

    def removals(self, by: int | None = None) -> list[tuple[int, int]]:
        return self.told(REMOVE, by)

    def spared(self) -> list[tuple[int, int]]:
        """Return (subscriber, id) of the installs that mediators reported as suppressed."""
        return [
            (event.item.origin, event.item.payload[0])
            for _, event in self.events
            if isinstance(event, InstallSpared)
        ]


def covered_net(*, source_covers: bool | None = None, limits: Limits = QUICK) -> CoveredNet:
    """Return one in which covering is on."""
    return CoveredNet(TopicCovers, source_covers=source_covers, limits=limits)
