"""One subscription and one notification, all the way: no node ever meets both endpoints at once."""

from collections.abc import Callable

import pytest

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import Event, FilterInstalled, FilterRemoved, MessageRefused, NotificationDelivered
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.protocol import ProtocolEngine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.item import lifetime_code_ms
from dens.overlay.wire.messages import Satisfied
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    subscription,
)

HOUR_Q = lifetime_code_ms(3_600_000)
SUBSCRIBER, FIRST, SECOND, PUBLISHER = 1, 2, 3, 4


class Line:
    """Four nodes and a perfect link of one millisecond."""

    def __init__(self, mission_key: bytes | None) -> None:
        mission = Mission(7, {LANGUAGE: TOPICS}, key=mission_key)
        self.now_ms = 1_000
        self.host = TopicHost()
        self.subscriber = SubscriberEndpoint(SUBSCRIBER, mission, MemoryStore(), 0)
        self.publisher = PublisherEndpoint(PUBLISHER, mission, MemoryStore(), 0, filter_host=self.host)
        make: Callable[[int], DensNode] = lambda node: DensNode(  # noqa: E731
            node, mission, MemoryStore(), 0, directory=TopicDirectory()
        )
        self.first, self.second = make(FIRST), make(SECOND)
        self.machines: dict[int, ProtocolEngine] = {
            SUBSCRIBER: self.subscriber,
            FIRST: self.first,
            SECOND: self.second,
            PUBLISHER: self.publisher,
        }
        self.events: list[tuple[int, Event]] = []
        self.frames = 0

    def meet(self, a: int, b: int, for_ms: int = 3_000) -> None:
        end_ms = self.now_ms + for_ms
        for node, peer in ((a, b), (b, a)):
            self.machines[node].contact_opened(peer, self.now_ms)
        while self.now_ms < end_ms:
            under_way = [
                (node, out) for node in (a, b) for out in self.machines[node].datagrams_to_send(self.now_ms)
            ]
            self.frames += len(under_way)
            self.now_ms += 1
            for node, out in under_way:
                self.machines[out.peer].receive(out.data, node, self.now_ms)
            for node in (a, b):
                timer = self.machines[node].next_timer_ms()
                if timer is not None and timer <= self.now_ms:
                    self.machines[node].timer_due(self.now_ms)
        for node, peer in ((a, b), (b, a)):
            self.machines[node].contact_lost(peer, self.now_ms)
        self.drain()

    def drain(self) -> None:
        for node, machine in self.machines.items():
            while (event := machine.next_event()) is not None:
                self.events.append((node, event))

    def of(self, kind: type) -> list[tuple[int, Event]]:
        return [(node, event) for node, event in self.events if isinstance(event, kind)]


@pytest.mark.parametrize("mission_key", [None, b"mission"])
def test_notification_is_carried_to_its_subscriber(mission_key: bytes | None) -> None:
    line = Line(mission_key)
    line.subscriber.subscribe(subscription(5, 0, HOUR_Q, topic=3, least=100), LANGUAGE, line.now_ms)
    line.publisher.announce(b"\x03", line.now_ms)
    line.meet(SUBSCRIBER, FIRST)
    line.meet(FIRST, SECOND)
    line.meet(SECOND, PUBLISHER)
    assert line.host.installed.keys() == {(SUBSCRIBER, 5)}
    assert line.host.wants(b"\x03\x78", line.now_ms)
    line.publisher.publish(LANGUAGE, b"\x03\x78", HOUR_Q, line.now_ms)
    line.publisher.publish(LANGUAGE, b"\x03\x20", HOUR_Q, line.now_ms)
    line.meet(SECOND, PUBLISHER)
    line.meet(FIRST, SECOND)
    line.meet(SUBSCRIBER, FIRST)
    delivered = line.of(NotificationDelivered)
    assert [(node, e.item.payload, e.satisfied, e.item.hops) for node, e in delivered] == [  # type: ignore[union-attr]
        (SUBSCRIBER, b"\x03\x78", (Satisfied(5, 0, 0x78),), 3)
    ]
    line.meet(SUBSCRIBER, SECOND)
    line.meet(FIRST, SECOND)
    assert line.of(NotificationDelivered) == delivered
    assert not line.of(MessageRefused)

    line.subscriber.unsubscribe(5, line.now_ms)
    line.meet(SUBSCRIBER, SECOND)
    line.meet(SECOND, PUBLISHER)
    assert line.host.installed == {}
    assert len(line.of(FilterRemoved)) == 1
    assert len(line.of(FilterInstalled)) == 1
    line.publisher.publish(LANGUAGE, b"\x03\x79", HOUR_Q, line.now_ms)
    line.meet(SECOND, PUBLISHER)
    line.meet(SUBSCRIBER, SECOND)
    line.meet(PUBLISHER, FIRST)
    line.meet(SUBSCRIBER, FIRST)
    assert line.of(NotificationDelivered) == delivered


def test_nodes_of_another_mission_table_refuse_each_other() -> None:
    line = Line(None)
    stranger = SubscriberEndpoint(SUBSCRIBER, Mission(8), MemoryStore(), 0)
    stranger.subscribe(subscription(5, 0, HOUR_Q, topic=3, least=100), LANGUAGE, line.now_ms)
    line.machines[SUBSCRIBER] = stranger
    line.meet(SUBSCRIBER, FIRST)
    assert {getattr(event, "reason", None) for node, event in line.events if node == FIRST} == {"table_check"}
    assert line.first.subscription_count == 0
