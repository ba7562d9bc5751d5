"""What applications may ask, what survives a restart, and what is refused with which status."""

import pytest

from dens.interfaces import BoundLanguage
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.errors import LocalProtocolError, StoreError
from dens.overlay.events import (
    CopyDropped,
    Event,
    MessageAcknowledged,
    MessageExpired,
    MessageRefused,
    NotificationDelivered,
    NotificationMatched,
)
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.policies.epidemic import Epidemic
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.store import Space
from dens.overlay.wire.codes import DIRECT_LANGUAGE, LINK_NUMBER, MessageType, Role
from dens.overlay.wire.envelope import pack, read_header
from dens.overlay.wire.item import ENVELOPE_BYTES, LIFETIME_MS, Item, ItemId, item_id, lifetime_code_ms
from dens.overlay.wire.messages import Batch, Hello, Notify, Satisfied, SummaryMessage
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    TopicMatcher,
    subscription,
)
from tests.dens.overlay.on_air import messages_in
from watchdog import vector as board_vector
from watchdog.header import body_of

HOUR_Q = lifetime_code_ms(3_600_000)


def events(engine: Engine) -> list[Event]:
    out: list[Event] = []
    while (event := engine.next_event()) is not None:
        out.append(event)
    return out


def mediator(store: MemoryStore | None = None, now_ms: int = 0, limits: Limits | None = None) -> DensNode:
    return DensNode(
        2,
        Mission(7, {LANGUAGE: TOPICS}, limits=limits),
        store or MemoryStore(),
        now_ms,
        directory=TopicDirectory(),
    )


class ScriptedPeer:
    """Speaks to an engine by hand: greets it, then sends any message."""

    def __init__(self, engine: Engine, node: int, role: Role, now_ms: int = 0) -> None:
        self.engine, self.node, self.now_ms = engine, node, now_ms
        engine.contact_opened(node, now_ms)
        hello = Hello(role, 5, 0)
        self.send(
            Item(
                MessageType.SUMMARY,
                0,
                node,
                LINK_NUMBER + 6,
                0,
                0,
                0,
                SummaryMessage(hello, b"", b"").encode(),
            )
        )

    def send(self, item: Item) -> None:
        self.engine.receive(pack(item, 7, item.age_ms(0), item.hops, 0), self.node, self.now_ms)

    def hear(self, later_ms: int = 300) -> list[Item]:
        self.now_ms += later_ms
        heard: list[Item] = []
        for out in self.engine.datagrams_to_send(self.now_ms):
            heard += messages_in(out.data, self.now_ms)
        return heard

    def refusals(self) -> list[str | None]:
        return [event.reason for event in events(self.engine) if isinstance(event, MessageRefused)]


def subscribe_item(origin: int, number: int, vector: bytes, created_ms: int = 0) -> Item:
    return Item(MessageType.SUBSCRIBE, LANGUAGE, origin, number, created_ms, vector[2], 1, vector)


def test_a_subscriber_refuses_what_the_protocol_does_not_allow() -> None:
    end = SubscriberEndpoint(1, Mission(7), MemoryStore(), 0)
    with pytest.raises(LocalProtocolError, match="a subscription vector begins"):
        end.subscribe(b"\x00", LANGUAGE, 0)
    end.subscribe(subscription(5, 200, HOUR_Q, 3, 1), LANGUAGE, 0)
    with pytest.raises(LocalProtocolError, match="not newer"):
        end.subscribe(subscription(5, 200, HOUR_Q, 3, 2), LANGUAGE, 0)
    with pytest.raises(LocalProtocolError, match="never shortens"):
        end.renew(5, 0, 0)
    with pytest.raises(LocalProtocolError, match="no subscription 6"):
        end.unsubscribe(6, 0)
    end.unsubscribe(5, 0)
    with pytest.raises(LocalProtocolError, match="no subscription 5"):
        end.renew(5, HOUR_Q, 0)
    with pytest.raises(LocalProtocolError, match="not newer"):
        end.subscribe(subscription(5, 200, HOUR_Q, 3, 2), LANGUAGE, 1)
    end.subscribe(subscription(5, 10, HOUR_Q, 3, 2), LANGUAGE, 1)
    assert [(one.id, one.seq) for one in end.in_force] == [(5, 10)]


def test_a_shorter_revision_buries_the_longer_one_it_replaces() -> None:
    """Else a copy of the longer one could come back when the shorter one is over and forgotten."""
    end = SubscriberEndpoint(1, Mission(7), MemoryStore(), 0)
    end.subscribe(subscription(5, 0, HOUR_Q, 3, 1), LANGUAGE, 0)
    end.subscribe(subscription(5, 1, 10, 3, 1), LANGUAGE, 10)
    peer = ScriptedPeer(end, 2, Role.MEDIATOR)
    tombstones = [item for item in peer.hear() if item.type == MessageType.UNSUBSCRIBE]
    assert [item.payload for item in tombstones] == [bytes((5, 0))]
    assert tombstones[0].expires_ms >= LIFETIME_MS[HOUR_Q]


def test_a_subscription_never_comes_back_once_its_tombstone_is_known() -> None:
    node = mediator()
    peer = ScriptedPeer(node, 3, Role.MEDIATOR)
    peer.send(Item(MessageType.UNSUBSCRIBE, 0, 1, 8, 0, HOUR_Q, 1, bytes((5, 4))))
    peer.send(subscribe_item(1, 7, subscription(5, 4, HOUR_Q, 3, 1)))
    assert node.subscription_count == 0
    assert peer.refusals() == ["superseded"]
    peer.send(subscribe_item(1, 9, subscription(5, 5, HOUR_Q, 3, 1)))
    assert node.subscription_count == 1


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (Item(MessageType.NOTIFICATION, 99, 4, 1, 0, HOUR_Q, 1, b"\x03\x05"), "unknown_language"),
        (Item(MessageType.NOTIFICATION, LANGUAGE, 4, 1, 0, HOUR_Q, 1, b"\x03"), "bad_payload"),
        (Item(MessageType.SUBSCRIBE, LANGUAGE, 4, 1, 0, HOUR_Q, 1, b"\x03"), "bad_payload"),
        (Item(MessageType.ANNOUNCE, 0, 4, 1, 0, HOUR_Q, 1, b""), "bad_payload"),
        (Item(MessageType.RECEIPT, 0, 4, 1, 0, HOUR_Q, 1, b"12345"), "bad_payload"),
        (Item(MessageType.NOTIFY, LANGUAGE, 4, 1, 0, HOUR_Q, 1, b"\x01\x00\x00\x00x"), "unexpected"),
        (Item(MessageType.NOTIFICATION, LANGUAGE, 4, 1, -1_000, 0, 1, b"\x03\x05"), "expired"),
    ],
)
def test_a_mediator_says_why_it_refuses(item: Item, reason: str) -> None:
    peer = ScriptedPeer(mediator(), 3, Role.MEDIATOR)
    peer.send(item)
    assert peer.refusals() == [reason]
    acks = [heard for heard in peer.hear() if heard.type == MessageType.ACKNOWLEDGEMENT]
    assert acks[0].payload[9:17] == item.origin.to_bytes(4, "big") + item.number.to_bytes(4, "big")


def test_an_end_speaks_for_itself_only() -> None:
    peer = ScriptedPeer(mediator(), 3, Role.SUBSCRIBER)
    peer.send(subscribe_item(1, 7, subscription(5, 4, HOUR_Q, 3, 1)))
    peer.send(Item(MessageType.UNSUBSCRIBE, 0, 1, 8, 0, HOUR_Q, 1, bytes((5, 4))))
    assert peer.refusals() == ["foreign_origin", "foreign_origin"]


def test_a_notification_from_before_the_end_is_matched_after_it() -> None:
    """Pending deliveries depend on event times: a late notification is still pending while the subscription
    lingers.
    """
    node = mediator()
    peer = ScriptedPeer(node, 3, Role.MEDIATOR)
    peer.send(subscribe_item(1, 7, subscription(5, 0, 0, 3, 1)))
    peer.now_ms = 60_000
    node.timer_due(peer.now_ms)
    assert any(isinstance(event, MessageExpired) for event in events(node))
    peer.send(Item(MessageType.NOTIFICATION, LANGUAGE, 4, 1, -59_500, HOUR_Q, 1, b"\x03\x05"))
    peer.send(Item(MessageType.NOTIFICATION, LANGUAGE, 4, 2, -58_000, HOUR_Q, 1, b"\x03\x05"))
    subscriber = ScriptedPeer(node, 1, Role.SUBSCRIBER, peer.now_ms)
    assert [item.number for item in subscriber.hear() if item.type == MessageType.NOTIFY] == [1]


def test_the_inbox_survives_until_the_application_has_taken_it() -> None:
    """What it could not take it hands back, and is given again."""
    store = MemoryStore()
    end = SubscriberEndpoint(1, Mission(7), store, 0)
    end.subscribe(subscription(5, 0, HOUR_Q, 3, 1), LANGUAGE, 0)
    peer = ScriptedPeer(end, 2, Role.MEDIATOR)
    notify = Item(
        MessageType.NOTIFY, LANGUAGE, 4, 1, 0, HOUR_Q, 2, Notify((Satisfied(5, 0, 9),), b"\x03\x09").encode()
    )
    peer.send(notify)
    lost = SubscriberEndpoint(1, Mission(7), store.crash(), 50)
    assert not any(isinstance(event, NotificationDelivered) for event in events(lost))
    store = MemoryStore()
    end = SubscriberEndpoint(1, Mission(7), store, 0)
    peer = ScriptedPeer(end, 2, Role.MEDIATOR)
    peer.send(notify)
    assert any(item.type == MessageType.ACKNOWLEDGEMENT for item in peer.hear())
    store = store.crash()
    again = SubscriberEndpoint(1, Mission(7), store, 50)
    [delivered] = [event for event in events(again) if isinstance(event, NotificationDelivered)]
    assert (delivered.item.payload, delivered.satisfied) == (b"\x03\x09", (Satisfied(5, 0, 9),))
    again.hand_back(delivered)
    store = store.crash()
    [shown] = [
        e
        for e in events(SubscriberEndpoint(1, Mission(7), store, 55))
        if isinstance(e, NotificationDelivered)
    ]
    assert (shown.item, shown.satisfied) == (delivered.item, delivered.satisfied)
    third = SubscriberEndpoint(1, Mission(7), store.crash(), 60)
    assert not any(isinstance(event, NotificationDelivered) for event in events(third))
    peer = ScriptedPeer(third, 2, Role.MEDIATOR, 60)
    peer.send(notify)
    assert not any(isinstance(event, NotificationDelivered) for event in events(third))
    assert [item.type for item in peer.hear() if item.type == MessageType.RECEIPT] == [MessageType.RECEIPT]


def test_numbers_are_never_used_twice_across_restarts() -> None:
    store = MemoryStore()
    used: list[ItemId] = []
    for restart in range(5):
        end = PublisherEndpoint(4, Mission(7), store, restart, filter_host=TopicHost())
        for number in range(70):
            used.append(end.publish(LANGUAGE, bytes((3, number)), HOUR_Q, restart))
            if number % 2:
                end.datagrams_to_send(restart)
        store = store.crash()
    assert len(set(used)) == len(used) == 350


def test_filters_survive_a_restart_and_end_in_time() -> None:
    store, host = MemoryStore(), TopicHost()
    end = PublisherEndpoint(4, Mission(7), store, 0, filter_host=host)
    peer = ScriptedPeer(end, 2, Role.MEDIATOR)
    install = subscribe_item(1, 7, subscription(5, 0, 40, 3, 1)).replace(type=MessageType.INSTALL)
    peer.send(install)
    peer.send(install.replace(number=8, language=77, payload=subscription(6, 0, 40, 3, 1)))
    assert peer.refusals() == ["unknown_language"]
    peer.hear()
    host = TopicHost()
    end = PublisherEndpoint(4, Mission(7), store.crash(), 500, filter_host=host)
    assert host.installed == {(1, 5): (0, body_of(install.payload), LIFETIME_MS[40])}
    assert (end.next_timer_ms(), end.next_expiry_ms()) == (None, LIFETIME_MS[40])
    end.timer_due(LIFETIME_MS[40])
    assert end.filter_count == 0


def test_a_new_announcement_replaces_the_old_one() -> None:
    end = PublisherEndpoint(4, Mission(7), MemoryStore(), 0, filter_host=TopicHost())
    first = end.announce(b"\x01", 0)
    assert end.announce(b"\x01", 5) == first
    second = end.announce(b"\x02", 10)
    assert second != first
    peer = ScriptedPeer(end, 2, Role.MEDIATOR)
    assert [item.id for item in peer.hear() if item.type == MessageType.ANNOUNCE] == [second]
    assert [event.reason for event in events(end) if isinstance(event, CopyDropped)] == ["replaced"]
    with pytest.raises(LocalProtocolError, match="at most"):
        end.announce(bytes(70_000), 0)


def test_a_slow_peer_is_not_flooded() -> None:
    limits = Limits(window_bytes=200, retry_ms=1_000, retry_most_ms=4_000)
    end = PublisherEndpoint(4, Mission(7, limits=limits), MemoryStore(), 0, filter_host=TopicHost())
    for number in range(50):
        end.publish(LANGUAGE, bytes((3, number)) + bytes(30), HOUR_Q, 0)
    peer = ScriptedPeer(end, 2, Role.MEDIATOR)
    first = [item for item in peer.hear() if item.type == MessageType.NOTIFICATION]
    assert len(first) == 3  # with the summary that is under way as well
    assert [item for item in peer.hear() if item.type == MessageType.NOTIFICATION] == []
    again = [item.number for item in peer.hear(2_000) if item.type == MessageType.NOTIFICATION]
    assert again == [item.number for item in first]
    end.publish(LANGUAGE, bytes(5_000), HOUR_Q, peer.now_ms)
    assert [item for item in peer.hear(10) if item.type == MessageType.NOTIFICATION] == []


def test_acknowledgements_are_collected() -> None:
    node = mediator(limits=Limits(ack_delay_ms=50, ack_batch=10))
    peer = ScriptedPeer(node, 4, Role.PUBLISHER)
    peer.hear()
    for number in range(10):
        peer.send(Item(MessageType.NOTIFICATION, LANGUAGE, 4, number, 0, HOUR_Q, 1, b"\x03\x05"))
    [ack] = [item for item in peer.hear(0) if item.type == MessageType.ACKNOWLEDGEMENT]
    assert len(ack.payload) == 9 * 10
    peer.send(Item(MessageType.NOTIFICATION, LANGUAGE, 4, 11, 0, HOUR_Q, 1, b"\x03\x05"))
    assert peer.hear(20) == []
    assert node.next_timer_ms() == peer.now_ms + 30
    assert [item.type for item in peer.hear(30)] == [MessageType.ACKNOWLEDGEMENT]


def test_expiry_needs_no_timer_and_nothing_is_kept_too_long() -> None:
    limits = Limits(remember_ms=5_000)
    node = mediator(limits=limits)
    peer = ScriptedPeer(node, 4, Role.PUBLISHER)
    said = Item(MessageType.NOTIFICATION, LANGUAGE, 4, 1, 0, 8, 1, b"\x03\x05")
    peer.send(said)
    node.contact_lost(4, 300)
    assert (node.next_timer_ms(), node.next_expiry_ms()) == (None, said.expires_ms)
    node.timer_due(2_000)
    assert node.notification_count == 0
    assert (node.next_timer_ms(), node.next_expiry_ms()) == (None, None)
    forgotten_ms = said.expires_ms + limits.remember_ms
    for at_ms, is_known in ((forgotten_ms, True), (forgotten_ms + 1, False)):
        late = ScriptedPeer(node, 4, Role.PUBLISHER, at_ms)
        [summary] = [item for item in late.hear(0) if item.type == MessageType.SUMMARY]
        assert bool(SummaryMessage.decode(summary.payload).known) is is_known


def test_a_damaged_row_stops_a_restart() -> None:
    store = MemoryStore()
    store.put(Space.ITEM, item_id(1, 2), b"\x00" * 20)
    store.commit()
    with pytest.raises(StoreError, match="damaged"):
        mediator(store)


def test_revisions_mean_the_same_on_boards() -> None:
    from dens.overlay.storage.subscription_table import is_newer

    assert all(
        is_newer(a, b) == board_vector.is_newer(a, b) for a in range(0, 256, 5) for b in range(0, 256, 3)
    )


def test_an_acknowledged_notification_is_named_as_it_was_sent() -> None:
    end = PublisherEndpoint(4, Mission(7), MemoryStore(), 0, filter_host=TopicHost())
    published = end.publish(LANGUAGE, b"\x03\x05", HOUR_Q, 0)
    node = mediator()
    node.contact_opened(4, 0)
    end.contact_opened(2, 0)
    for now_ms in range(0, 300, 5):
        for out in end.datagrams_to_send(now_ms):
            assert read_header(out.data).table_check == 7
            node.receive(out.data, 4, now_ms)
        for out in node.datagrams_to_send(now_ms):
            end.receive(out.data, 2, now_ms)
    acks = [event for event in events(end) if isinstance(event, MessageAcknowledged)]
    assert [(event.item.id, event.peer, event.reason) for event in acks] == [(published, 2, None)]


def test_small_messages_share_a_datagram_and_one_bad_one_spoils_it() -> None:
    end = SubscriberEndpoint(1, Mission(7), MemoryStore(), 0)
    for id in range(40):
        end.subscribe(subscription(id, 0, HOUR_Q, 3, 1), LANGUAGE, 0)
    ScriptedPeer(end, 2, Role.MEDIATOR)
    [batch] = [out.data for out in end.datagrams_to_send(0)]
    assert batch[1] == MessageType.BATCH
    summary, acknowledgement, *messages = Batch.decode(batch[ENVELOPE_BYTES:]).messages
    assert (summary[1], acknowledgement[1]) == (MessageType.SUMMARY, MessageType.ACKNOWLEDGEMENT)
    assert [message[1] for message in messages] == [MessageType.SUBSCRIBE] * 40
    node = mediator()
    peer = ScriptedPeer(node, 1, Role.SUBSCRIBER)
    own_link = Item(MessageType.HELLO, 0, 1, LINK_NUMBER + 9, 0, 0, 0, Hello(Role.SUBSCRIBER, 9, 0).encode())
    another = pack(subscribe_item(1, 99, messages[0][ENVELOPE_BYTES:]), 8, 0, 1, 0)
    for bad in (
        (*messages, b"\x20"),
        (*messages, pack(own_link, 7, 0, 0, 0)),
        (*messages, another),
        (*messages, acknowledgement),
        (acknowledgement, acknowledgement, *messages),
        (acknowledgement, summary, *messages),
        (*messages, summary),
        (*messages, batch),
        (acknowledgement[:4] + b"\x00\x00\x00\x02" + acknowledgement[8:], *messages),
    ):
        peer.send(Item(MessageType.BATCH, 0, 1, LINK_NUMBER + 7, 0, 0, 0, Batch(bad).encode()))
        assert node.subscription_count == 0
    payload = Batch((acknowledgement, *messages)).encode()
    peer.send(Item(MessageType.BATCH, 0, 1, LINK_NUMBER + 7, 0, 0, 0, payload))
    assert node.subscription_count == 40


def test_to_an_end_every_message_goes_alone() -> None:
    """It may be a board, which reads one message at a time."""
    node = mediator()
    asker, source = ScriptedPeer(node, 1, Role.SUBSCRIBER), ScriptedPeer(node, 4, Role.PUBLISHER)
    source.send(Item(MessageType.ANNOUNCE, 0, 4, 0, 0, HOUR_Q, 1, b"\x03"))
    for number in range(5):
        asker.send(subscribe_item(1, number, subscription(number, 0, HOUR_Q, 3, 1)))
        source.send(Item(MessageType.NOTIFICATION, LANGUAGE, 4, number + 1, 0, HOUR_Q, 1, b"\x03\x05"))
    said = [(out.peer, out.data[1]) for out in node.datagrams_to_send(1_000)]
    assert {peer for peer, _ in said} == {1, 4}
    assert said.count((1, MessageType.NOTIFY)) == 5
    assert said.count((4, MessageType.INSTALL)) == 5
    assert MessageType.BATCH not in {kind for _, kind in said}


def test_of_two_mediators_the_one_with_the_lower_number_speaks_first_and_the_other_not_much_later() -> None:
    for own, peer, first_ms in ((2, 3, 0), (3, 2, 500)):
        node = DensNode(own, Mission(7), MemoryStore(), 0, directory=TopicDirectory())
        node.contact_opened(peer, 1_000)
        said = [now_ms - 1_000 for now_ms in range(1_000, 4_000) if node.datagrams_to_send(now_ms)]
        assert said == list(range(first_ms, 3_000, 1_000))
    end = SubscriberEndpoint(9, Mission(7), MemoryStore(), 0)
    end.contact_opened(2, 0)
    assert end.datagrams_to_send(0), "an endpoint waits for no peer"


def test_two_mediators_need_four_datagrams_to_know_that_they_know_the_same() -> None:
    nodes = {
        number: DensNode(number, Mission(7, {LANGUAGE: TOPICS}), MemoryStore(), 0, directory=TopicDirectory())
        for number in (2, 3)
    }
    nodes[2].contact_opened(3, 0)
    nodes[3].contact_opened(2, 0)
    said: list[tuple[int, list[int]]] = []
    for now_ms in range(0, 5_000, 10):
        for number, node in nodes.items():
            for out in node.datagrams_to_send(now_ms):
                said.append((number, [item.type for item in messages_in(out.data)]))
                nodes[out.peer].receive(out.data, number, now_ms)
    hello, summary, acknowledgement = MessageType.HELLO, MessageType.SUMMARY, MessageType.ACKNOWLEDGEMENT
    assert said == [(2, [hello]), (3, [summary]), (2, [summary, acknowledgement]), (3, [acknowledgement])]


class AsksWhoIsOwed(Epidemic):
    """All subscribers receive everything, and the pending deliveries are checked."""

    asks_who_is_owed = True


@pytest.mark.parametrize(
    ("language", "policy", "goes_on"),
    [
        (DIRECT_LANGUAGE, Epidemic(), False),
        (DIRECT_LANGUAGE, AsksWhoIsOwed(), True),
        (LANGUAGE, Epidemic(), True),
    ],
)
def test_who_wants_plain_messages_is_known_where_it_is_met_only(
    language: int, policy: Epidemic, goes_on: bool
) -> None:
    node = DensNode(
        2,
        Mission(
            7, {LANGUAGE: TOPICS, DIRECT_LANGUAGE: BoundLanguage(matchers={DIRECT_LANGUAGE: TopicMatcher})}
        ),
        MemoryStore(),
        0,
        directory=TopicDirectory(),
        policy=policy,
    )
    early, subscriber = ScriptedPeer(node, 3, Role.MEDIATOR), ScriptedPeer(node, 1, Role.SUBSCRIBER)
    early.hear(0)
    vector = subscription(5, 0, HOUR_Q, 3, 1)
    subscriber.send(Item(MessageType.SUBSCRIBE, language, 1, 7, 0, HOUR_Q, 1, vector))
    assert node.subscription_count == 1
    ScriptedPeer(node, 4, Role.MEDIATOR)
    told = {
        out.peer
        for out in node.datagrams_to_send(0)
        if any(item.type == MessageType.SUBSCRIBE for item in messages_in(out.data))
    }
    assert told == ({3, 4} if goes_on else set())


@pytest.mark.parametrize(("language", "lifetime_q"), [(999, 60), (-1, 60), (LANGUAGE, 256), (LANGUAGE, -1)])
def test_what_no_envelope_can_say_is_refused_at_once(language: int, lifetime_q: int) -> None:
    end = PublisherEndpoint(4, Mission(7), MemoryStore(), 0, filter_host=TopicHost())
    with pytest.raises(LocalProtocolError, match=r"0\.\.255"):
        end.publish(language, b"\x01\x02", lifetime_q, 0)
    assert end.notification_count == 0


def test_pending_deliveries_are_recomputed_after_a_restart() -> None:
    store = MemoryStore()
    node = mediator(store=store)
    asker = ScriptedPeer(node, 1, Role.SUBSCRIBER)
    asker.send(subscribe_item(1, 0, subscription(5, 0, HOUR_Q, 3, 1)))
    source = ScriptedPeer(node, 4, Role.PUBLISHER)
    source.send(Item(MessageType.NOTIFICATION, LANGUAGE, 4, 0, 0, HOUR_Q, 1, b"\x03\x05"))
    source.hear()
    again = mediator(store=store.crash())
    told = [
        [event.from_before for event in events(one) if isinstance(event, NotificationMatched)]
        for one in (node, again)
    ]
    assert told == [[False], [True]]
