"""Every field of the wire at its ends, and numbers that come to theirs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.errors import LocalProtocolError, RemoteProtocolError, StoreError
from dens.overlay.events import DatagramRefused, MessageQuarantined, NotificationDelivered
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.storage.durable_state import DurableState, init_counters
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import LINK_NUMBER, STATUS_NAMES, MessageType, Role
from dens.overlay.wire.envelope import PAYLOAD_BYTES, VECTOR_BYTES, pack, unpack
from dens.overlay.wire.item import OLDEST_AGE_MS, Item, item_id, lifetime_code_ms
from dens.overlay.wire.messages import Acknowledgement, Hello, SummaryMessage
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    subscription,
)

HOUR_Q = lifetime_code_ms(3_600_000)
LAST_NUMBER, LAST_SESSION, LAST_NODE = 2**31 - 1, 2**32 - 1, 2**31 - 1


def begun(least: int, session: int | None = None) -> MemoryStore:
    """Return a store whose numbers begin here."""
    store = MemoryStore()
    init_counters(store, least)
    if session is not None:
        ledger = DurableState(store, Limits(number_step=1))
        ledger.load()
        counter = item_id(1, 0)
        ledger._next_number[counter] = ledger._reserved[counter] = session
        ledger.session_number()
        ledger.commit()
    return store


def mediator(store: MemoryStore | None = None, node: int = 2, limits: Limits | None = None) -> DensNode:
    return DensNode(
        node,
        Mission(7, {LANGUAGE: TOPICS}, limits=limits),
        store or MemoryStore(),
        0,
        directory=TopicDirectory(),
    )


def settle(a: Engine, b: Engine, begin_ms: int = 0) -> list[NotificationDelivered]:
    """Let two meet for three seconds; return what was delivered, and see that nothing was refused."""
    delivered: list[NotificationDelivered] = []
    a.contact_opened(b.node, begin_ms)
    b.contact_opened(a.node, begin_ms)
    for now_ms in range(begin_ms, begin_ms + 3_000, 50):
        for one, other in ((a, b), (b, a)):
            for out in one.datagrams_to_send(now_ms):
                if out.peer == other.node:
                    other.receive(out.data, one.node, now_ms)
            while (event := one.next_event()) is not None:
                assert not isinstance(event, DatagramRefused | MessageQuarantined), event
                if isinstance(event, NotificationDelivered):
                    delivered.append(event)
    return delivered


def test_a_publisher_uses_its_very_last_number_and_then_says_so() -> None:
    store = begun(LAST_NUMBER - 1)
    end = PublisherEndpoint(LAST_NODE, Mission(7), store, 0, filter_host=TopicHost())
    assert end.publish(LANGUAGE, b"\x01\x05", HOUR_Q, 0) == item_id(LAST_NODE, LAST_NUMBER - 1)
    assert end.publish(LANGUAGE, b"\x01\x06", HOUR_Q, 0) == item_id(LAST_NODE, LAST_NUMBER)
    for _ in range(2):
        with pytest.raises(LocalProtocolError, match="start it with a new store"):
            end.publish(LANGUAGE, b"\x01\x07", HOUR_Q, 0)
        with pytest.raises(LocalProtocolError, match="all its 2\\^31 message numbers"):
            end.announce(b"\x01", 0)
    assert end.notification_count == 2
    node = mediator()
    settle(node, end)
    assert node.notification_count == 2  # what it has still goes
    end.datagrams_to_send(4_000)
    again = PublisherEndpoint(LAST_NODE, Mission(7), store.crash(), 0, filter_host=TopicHost())
    with pytest.raises(LocalProtocolError, match="all its 2\\^31 message numbers"):
        again.publish(LANGUAGE, b"\x01\x07", HOUR_Q, 0)
    assert again.notification_count == 2


def test_a_subscriber_without_numbers_still_hears_and_changes_nothing_it_cannot_say() -> None:
    end = SubscriberEndpoint(0, Mission(7), begun(LAST_NUMBER - 1), 0)
    end.subscribe(subscription(255, 255, HOUR_Q, 1, 0), LANGUAGE, 0)
    node = mediator(node=LAST_NODE)
    source = PublisherEndpoint(3, Mission(7), MemoryStore(), 0, filter_host=TopicHost())
    settle(node, end)
    for value in range(3):
        source.publish(LANGUAGE, bytes((1, value)), HOUR_Q, 4_000)
    settle(node, source, 4_000)
    node.contact_lost(0, 7_000)
    end.contact_lost(LAST_NODE, 7_000)
    heard = settle(node, end, 8_000)
    assert [event.item.payload[1] for event in heard] == [0, 1, 2]  # one receipt has a number, two have none
    with pytest.raises(LocalProtocolError, match="all its 2\\^31 message numbers"):
        end.subscribe(subscription(254, 0, HOUR_Q, 1, 0), LANGUAGE, 8_000)
    with pytest.raises(LocalProtocolError, match="all its 2\\^31 message numbers"):
        end.unsubscribe(255, 8_000)
    with pytest.raises(LocalProtocolError, match="all its 2\\^31 message numbers"):
        end.renew(255, HOUR_Q, 8_000)
    assert [(one.id, one.seq) for one in end.in_force] == [(255, 255)]


def test_the_very_last_session_is_used_and_no_contact_begins_after_it() -> None:
    store = begun(1, LAST_SESSION - 1)
    node, end = mediator(store), SubscriberEndpoint(1, Mission(7), MemoryStore(), 0)
    end.subscribe(subscription(0, 0, HOUR_Q, 1, 0), LANGUAGE, 0)
    settle(node, end)
    assert node.context.sessions[1].own_session == LAST_SESSION == end.context.sessions[2].peer_session
    assert node.subscription_count == 1
    with pytest.raises(StoreError, match="start it under another node number"):
        node.contact_opened(9, 5_000)
    assert node.subscription_count == 1


def test_link_messages_never_run_out_of_numbers() -> None:
    store = MemoryStore()
    init_counters(store, LINK_NUMBER // 32 - 1)
    ledger = DurableState(store, Limits())
    ledger.load()
    numbers = [ledger.link_number() for _ in range(34)]
    assert numbers[-3:] == [2**32 - 1, 2**31, 2**31 + 1]


EDGES_NODE = st.sampled_from([0, 1, 255, 256, 65_535, 65_536, LAST_NODE - 1, LAST_NODE])
EDGES_31 = st.sampled_from([0, 1, 127, 128, 2**16, LAST_NUMBER - 1, LAST_NUMBER])
EDGES_32 = st.sampled_from([0, 1, 2**31 - 1, 2**31, OLDEST_AGE_MS - 1, OLDEST_AGE_MS])
EDGES_8 = st.sampled_from([0, 1, 127, 128, 254, 255])
PAYLOADS = st.one_of(
    st.sampled_from([b"", b"\xff", bytes(4), b"\xff" * VECTOR_BYTES, bytes(PAYLOAD_BYTES)]),
    st.binary(max_size=12),
    st.builds(bytes, st.tuples(EDGES_8, EDGES_8, EDGES_8, st.sampled_from([1, 2]), EDGES_8)),
    st.builds(bytes, st.tuples(st.sampled_from([1, 2]), EDGES_8)),
)
ITEMS = st.builds(
    lambda kind, language, origin, number, age, q, hops, payload, copies: pack(
        Item(kind, language, origin, number, 0, q, hops, payload, copies if kind == 35 else 0),
        7,
        age,
        hops,
        0,
    ),
    st.sampled_from([16, 17, 18, 19, 20, 32, 33, 34, 35]),
    st.sampled_from([0, LANGUAGE, 255]),
    EDGES_NODE,
    EDGES_31,
    EDGES_32,
    EDGES_8,
    EDGES_8,
    PAYLOADS,
    st.integers(0, 7),
)
HELLOS = st.builds(
    Hello,
    st.sampled_from([int(role) for role in Role]),
    st.sampled_from([1, 2, LAST_SESSION - 1, LAST_SESSION]),
    EDGES_32,
)
HOSTS = st.sampled_from([(), (0,), (65535, 65536), (LAST_NODE,), tuple(range(0, 2**31, 2**25))])
"""Ends that a mediator says it hosts: none, at the ends of their numbers, as many as there may be."""
KNOWN = st.sampled_from(
    [
        b"",
        b"\x00\x00\x00\xff\xff\xff\xff\x07",
        b"\xff\xff\xff\xff\x07\x00\xff\xff\xff\xff\x07\x00",
        b"\x07\x00\x00\x00",
    ]
)
LINKS = st.one_of(
    st.tuples(st.just(1), HELLOS.map(Hello.encode)),
    st.tuples(
        st.just(2),
        st.builds(
            SummaryMessage,
            HELLOS,
            st.sampled_from([b"", bytes(16_384)]),
            KNOWN,
            HOSTS,
            EDGES_NODE,
            EDGES_NODE,
            EDGES_32,
        ).map(SummaryMessage.encode),
    ),
    st.tuples(
        st.just(3),
        st.lists(
            st.tuples(EDGES_NODE, EDGES_32, st.sampled_from(sorted(STATUS_NAMES))), min_size=1, max_size=5
        ).map(lambda entries: Acknowledgement(tuple(entries)).encode()),
    ),
)


@given(
    st.sampled_from(["subscriber", "mediator", "publisher"]),
    st.lists(st.one_of(ITEMS, st.tuples(LINKS, EDGES_31)), max_size=25),
    st.sampled_from([-(2**41), 0, 2**31, 2**41]),
)
def test_any_field_at_its_end_ends_nothing(
    kind: str, said: list[bytes | tuple[tuple[int, bytes], int]], now_ms: int
) -> None:
    """A peer says anything with its fields at their ends; the node goes on, and after a restart too."""
    store = begun(LAST_NUMBER - 2)
    peer = LAST_NODE

    def make(store: MemoryStore) -> Engine:
        if kind == "subscriber":
            return SubscriberEndpoint(0, Mission(7), store, now_ms)
        if kind == "publisher":
            return PublisherEndpoint(0, Mission(7), store, now_ms, filter_host=TopicHost())
        return DensNode(0, Mission(7, {LANGUAGE: TOPICS}), store, now_ms, directory=TopicDirectory())

    engine = make(store)
    engine.contact_opened(peer, now_ms)
    hello = SummaryMessage(Hello(Role.MEDIATOR, 1, 0), b"", b"").encode()
    engine.receive(pack(Item(2, 0, peer, LINK_NUMBER, 0, 0, 0, hello), 7, 0, 0, 0), peer, now_ms)
    for life in range(2):
        for step, one in enumerate(said):
            if isinstance(one, bytes):
                data = one
            else:
                (link, payload), number = one
                data = pack(Item(link, 0, peer, number | LINK_NUMBER, 0, 0, 0, payload), 7, 0, 0, 0)
            at_ms = now_ms + 400 * step
            engine.receive(data, peer, at_ms)
            engine.timer_due(at_ms)
            for out in engine.datagrams_to_send(at_ms):
                unpack(out.data, at_ms)
            while (event := engine.next_event()) is not None:
                assert not isinstance(event, MessageQuarantined), event
        store = store.crash()
        if life == 0:
            engine = make(store)
            engine.contact_opened(peer, now_ms)


def test_a_vector_longer_than_any_end_may_say_is_refused() -> None:
    """Else a mediator could be given one that fits as a notification, and not as a notify."""
    for kind, more in ((35, 0), (16, 0), (32, 0), (17, 4)):
        item = Item(kind, 1, 5, 6, 0, 95, 1, bytes(VECTOR_BYTES + more))
        assert len(unpack(pack(item, 7, 0, 1, 0), 0)[0].payload) == VECTOR_BYTES + more
        with pytest.raises(RemoteProtocolError, match="not a valid length"):
            unpack(pack(item.replace(payload=item.payload + b"x"), 7, 0, 1, 0), 0)


def test_a_node_with_a_thousand_neighbours_hears_all_of_them() -> None:
    node = mediator(node=0)
    for peer in range(1, 1_025):
        node.contact_opened(peer, 0)
        hello = SummaryMessage(Hello(Role.SUBSCRIBER, LAST_SESSION, 0), b"", b"").encode()
        node.receive(pack(Item(2, 0, peer, LINK_NUMBER, 0, 0, 0, hello), 7, 0, 0, 0), peer, 0)
        vector = subscription(255, 255, 255, 1, 0)
        asked = Item(MessageType.SUBSCRIBE, LANGUAGE, peer, LAST_NUMBER, 0, 255, 255, vector)
        node.receive(pack(asked, 7, 0, 255, 0), peer, 0)
    assert node.subscription_count == 1_024
    source = Item(MessageType.NOTIFICATION, LANGUAGE, 1, 0, 0, HOUR_Q, 255, b"\x01\xff")
    node.receive(pack(source, 7, 0, 255, 0), 1, 0)
    notified = {out.peer for out in node.datagrams_to_send(0) if out.data[1] == MessageType.NOTIFY}
    assert notified == set(range(1, 1_025))
