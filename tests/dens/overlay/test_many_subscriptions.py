"""One reading for every subscription that one subscriber can have: nothing ends, and all of it arrives."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dens.node.storage.sqlite import SqliteStore
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import DatagramRefused, NotificationDelivered
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.store import Store
from dens.overlay.wire.item import Item, lifetime_code_ms
from dens.overlay.wire.messages import Notify, Satisfied
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    subscription,
)

HOUR_Q = lifetime_code_ms(3_600_000)
MEDIATOR, SUBSCRIBER, PUBLISHER = 2, 1, 3


def settle(machines: dict[int, Engine], begin_ms: int, end_ms: int) -> list[NotificationDelivered]:
    """Let these machines talk to each other; return what was delivered."""
    delivered: list[NotificationDelivered] = []
    for now_ms in range(begin_ms, end_ms, 50):
        for number, machine in machines.items():
            machine.timer_due(now_ms)
            for out in machine.datagrams_to_send(now_ms):
                if out.peer in machines:
                    machines[out.peer].receive(out.data, number, now_ms)
            while (event := machine.next_event()) is not None:
                assert not isinstance(event, DatagramRefused), event
                if isinstance(event, NotificationDelivered):
                    delivered.append(event)
    return delivered


def mediator(store: Store, now_ms: int) -> DensNode:
    return DensNode(MEDIATOR, Mission(7, {LANGUAGE: TOPICS}), store, now_ms, directory=TopicDirectory())


@pytest.mark.parametrize("count", [1, 255, 256])
def test_a_reading_for_every_subscription_is_delivered_whoever_restarts(count: int, tmp_path: Path) -> None:
    """The mediator restarts with what it owes, and the subscriber with what is in its inbox."""
    path = tmp_path / "mediator.db"
    node = mediator(SqliteStore(path), 0)
    asker_store = MemoryStore()
    asker = SubscriberEndpoint(SUBSCRIBER, Mission(7), asker_store, 0)
    source = PublisherEndpoint(PUBLISHER, Mission(7), MemoryStore(), 0, filter_host=TopicHost())
    for id in range(count):
        asker.subscribe(subscription(id, 0, HOUR_Q, 1, 0), LANGUAGE, 0)
    meet(node, asker, 0)
    settle({MEDIATOR: node, SUBSCRIBER: asker}, 0, 3_000)
    assert node.subscription_count == count
    node.contact_lost(SUBSCRIBER, 3_000)
    asker.contact_lost(MEDIATOR, 3_000)
    source.publish(LANGUAGE, bytes((1, 200)), HOUR_Q, 3_000)
    meet(node, source, 3_000)
    settle({MEDIATOR: node, PUBLISHER: source}, 3_000, 5_000)
    assert node.notification_count == 1
    for _ in range(3):
        node = restarted(node, path)
    meet(node, asker, 6_000)
    for now_ms in range(6_000, 8_000, 50):  # the subscriber ends with the delivery in its inbox
        exchange(node, asker, now_ms)
    asker = SubscriberEndpoint(SUBSCRIBER, Mission(7), asker_store.crash(), 8_000)
    [delivery] = settle({SUBSCRIBER: asker}, 8_000, 8_050)
    assert delivery.item.payload == bytes((1, 200))
    assert sorted(delivery.satisfied) == [Satisfied(id, 0, 200) for id in range(count)]


def meet(a: Engine, b: Engine, now_ms: int) -> None:
    a.contact_opened(b.node, now_ms)
    b.contact_opened(a.node, now_ms)


def restarted(node: DensNode, path: Path) -> DensNode:
    store = node.context.durable._store
    assert isinstance(store, SqliteStore)
    store.close()
    return mediator(SqliteStore(path), 5_500)


def exchange(a: Engine, b: Engine, now_ms: int) -> None:
    for one, other in ((a, b), (b, a)):
        for out in one.datagrams_to_send(now_ms):
            other.receive(out.data, one.node, now_ms)


def test_a_notify_names_every_subscription_that_a_subscriber_can_have() -> None:
    notify = Notify(tuple(Satisfied(id, 255 - id, id) for id in range(256)), b"\x01\x02")
    assert Notify.decode(notify.encode()) == notify
    assert notify.encode()[:5] == bytes((1, 0, 0, 255, 0))


def end_of(kind: str) -> Engine:
    makers: dict[str, Callable[[], Engine]] = {
        "subscriber": lambda: SubscriberEndpoint(SUBSCRIBER, Mission(7), MemoryStore(), 0),
        "publisher": lambda: PublisherEndpoint(
            PUBLISHER, Mission(7), MemoryStore(), 0, filter_host=TopicHost()
        ),
        "mediator": lambda: mediator(MemoryStore(), 0),
    }
    return makers[kind]()


@pytest.mark.parametrize("kind", ["subscriber", "publisher", "mediator"])
@pytest.mark.parametrize("version", [0, 1, 2, 3, 5, 15])
def test_a_node_of_another_version_is_refused_for_its_version(kind: str, version: int) -> None:
    engine = end_of(kind)
    engine.contact_opened(9, 0)
    [hello] = engine.datagrams_to_send(0)
    assert hello.data[0] >> 4 == 4
    other = bytes((version << 4 | hello.data[0] & 0x0F,)) + hello.data[1:4] + b"\x00\x09" + hello.data[6:]
    before = engine.role_of(9)
    engine.receive(other, 9, 0)
    event = engine.next_event()
    assert isinstance(event, DatagramRefused)
    assert event.reason == "version"
    assert engine.role_of(9) is before is None


def test_bytes_that_are_nothing_at_all_are_malformed_whatever_their_first_nibble() -> None:
    engine = mediator(MemoryStore(), 0)
    engine.contact_opened(9, 0)
    for data in (bytes(40), b"\xff" * 40, b"\x10" * 15, Item(35, 1, 7, 1, 0, 8, 0, b"abc").payload):
        engine.receive(data, 9, 0)
        event = engine.next_event()
        assert isinstance(event, DatagramRefused)
        assert event.reason == "malformed"
