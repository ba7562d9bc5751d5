"""A cable to a board that cannot make tags may be trusted; what comes over it is taken and marked."""

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import DatagramRefused, Event, MessageEvent, NotificationDelivered
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.session.protocol import Datagram
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.store import Space
from dens.overlay.wire.item import LIFETIME_MS
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    subscription,
)

MEDIATOR, OTHER, BOARD, ASKER = 1, 2, 7, 9
MISSION = b"mission"
HOUR_Q = 95


def mediator(node: int, store: MemoryStore, now_ms: int = 0) -> DensNode:
    return DensNode(
        node, Mission(7, {LANGUAGE: TOPICS}, key=MISSION), store, now_ms, directory=TopicDirectory()
    )


def board() -> PublisherEndpoint:
    """A publisher without a key, as on a board without hashlib."""
    return PublisherEndpoint(BOARD, Mission(7), MemoryStore(), 0, filter_host=TopicHost())


def talk(a: Engine, b: Engine, begin_ms: int, for_ms: int = 2_000) -> list[tuple[int, Datagram]]:
    """Let two engines exchange what they have to say; return it with its sender."""
    said: list[tuple[int, Datagram]] = []
    for now_ms in range(begin_ms, begin_ms + for_ms, 20):
        for speaker, hearer in ((a, b), (b, a)):
            for out in speaker.datagrams_to_send(now_ms):
                if out.peer == hearer.node:
                    said.append((speaker.node, out))
                    hearer.receive(out.data, speaker.node, now_ms)
    return said


def meet(a: Engine, b: Engine, begin_ms: int, *, is_trusted: bool = False) -> list[tuple[int, Datagram]]:
    a.contact_opened(b.node, begin_ms, is_trusted=is_trusted)
    b.contact_opened(a.node, begin_ms, is_trusted=is_trusted)
    return talk(a, b, begin_ms)


def events(engine: Engine) -> list[Event]:
    found: list[Event] = []
    while (event := engine.next_event()) is not None:
        found.append(event)
    return found


def test_what_a_board_says_over_a_trusted_cable_is_taken_marked_and_authenticated_further_on() -> None:
    store = MemoryStore()
    node, sensor, other = mediator(MEDIATOR, store), board(), mediator(OTHER, MemoryStore())
    made = sensor.publish(LANGUAGE, b"\x03\x05", HOUR_Q, 0)
    meet(node, sensor, 0, is_trusted=True)
    stored = [event for event in events(node) if isinstance(event, MessageEvent) and event.kind == "stored"]
    assert [(event.item.id, event.reason) for event in stored] == [(made, "unverified")]
    assert node.is_unverified(made)
    again = mediator(MEDIATOR, store.crash(), 3_000)
    assert again.is_unverified(made)
    said = meet(again, other, 3_000)
    assert all(out.data[0] & 0x08 for _, out in said)
    assert other.notification_count == 1
    assert not other.is_unverified(made)


def test_the_mark_ends_with_the_message() -> None:
    store = MemoryStore()
    node, sensor = mediator(MEDIATOR, store), board()
    made = sensor.publish(LANGUAGE, b"\x03\x05", HOUR_Q, 0)
    meet(node, sensor, 0, is_trusted=True)
    assert store.holds(Space.UNVERIFIED, made)
    node.timer_due(LIFETIME_MS[HOUR_Q] + 1)
    node.contact_opened(OTHER, LIFETIME_MS[HOUR_Q] + 1)
    node.datagrams_to_send(LIFETIME_MS[HOUR_Q] + 1)
    assert not node.is_unverified(made)
    assert not store.holds(Space.UNVERIFIED, made)


def test_trust_belongs_to_the_link_without_fallback() -> None:
    node, sensor = mediator(MEDIATOR, MemoryStore()), board()
    sensor.publish(LANGUAGE, b"\x03\x05", HOUR_Q, 0)
    meet(node, sensor, 0)
    assert node.notification_count == 0
    assert {event.reason for event in events(node) if isinstance(event, DatagramRefused)} == {"no_tag"}
    other = mediator(OTHER, MemoryStore())
    node.contact_opened(OTHER, 5_000, is_trusted=True)
    other.contact_opened(MEDIATOR, 5_000)
    talk(node, other, 5_000)
    assert {event.reason for event in events(node) if isinstance(event, DatagramRefused)} == {
        "unexpected_tag"
    }
    assert {event.reason for event in events(other) if isinstance(event, DatagramRefused)} == {"no_tag"}


def test_without_a_key_there_is_nothing_to_verify_and_nothing_to_mark() -> None:
    node = DensNode(MEDIATOR, Mission(7, {LANGUAGE: TOPICS}), MemoryStore(), 0, directory=TopicDirectory())
    sensor = board()
    made = sensor.publish(LANGUAGE, b"\x03\x05", HOUR_Q, 0)
    meet(node, sensor, 0, is_trusted=True)
    assert node.notification_count == 1
    assert not node.is_unverified(made)


def test_subscriber_gets_the_report_after_a_crash_too() -> None:
    node, sensor, store = mediator(MEDIATOR, MemoryStore()), board(), MemoryStore()
    asker = SubscriberEndpoint(ASKER, Mission(7, key=MISSION), store, 0)
    asker.subscribe(subscription(5, 0, HOUR_Q, 3, 1), LANGUAGE, 0)
    meet(node, asker, 0, is_trusted=True)
    made = sensor.publish(LANGUAGE, b"\x03\x05", HOUR_Q, 2_000)
    meet(node, sensor, 2_000, is_trusted=True)
    talk(node, asker, 4_000)
    restarted = SubscriberEndpoint(ASKER, Mission(7, key=MISSION), store.crash(), 7_000)
    delivered = [event for event in events(restarted) if isinstance(event, NotificationDelivered)]
    assert [(event.item.id, event.reason) for event in delivered] == [(made, "unverified")]
    assert not restarted.is_unverified(made)
