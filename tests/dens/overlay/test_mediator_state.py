"""The items and pending deliveries of a mediator, seen from outside: input messages and resulting output."""

import pytest

from dens.overlay.events import CopyDropped
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.policies.spray_and_wait import SprayAndWait
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import LINK_NUMBER, MessageType, Role, Status
from dens.overlay.wire.envelope import pack
from dens.overlay.wire.item import NUMBER_MASK, Item, ItemId, item_id
from dens.overlay.wire.messages import Acknowledgement, Hello, Receipt, SummaryMessage
from dens.overlay.wire.summary import NumberRanges, decode, encode
from emulation.fault_injection.topics import LANGUAGE, TOPICS, TopicDirectory, subscription
from tests.dens.overlay.on_air import messages_in
from tests.dens.overlay.test_engines import HOUR_Q, ScriptedPeer, events, mediator, subscribe_item

SUBSCRIBER = 1
WANTED = subscription(5, 0, HOUR_Q, 3, 1)


def notification(origin: int, number: int = 1, created_ms: int = 0, value: int = 9) -> Item:
    return Item(MessageType.NOTIFICATION, LANGUAGE, origin, number, created_ms, HOUR_Q, 1, bytes((3, value)))


def receipt(number: int, for_item: Item) -> Item:
    return Item(MessageType.RECEIPT, 0, SUBSCRIBER, number, 0, HOUR_Q, 1, Receipt(for_item.id).encode())


def dropped(node: DensNode) -> list[tuple[int, str | None]]:
    return [(event.item.origin, event.reason) for event in events(node) if isinstance(event, CopyDropped)]


def told(node: DensNode, now_ms: int) -> list[ItemId]:
    """Let the subscriber come; return the notifications that it is given."""
    subscriber = ScriptedPeer(node, SUBSCRIBER, Role.SUBSCRIBER, now_ms)
    return [item.id for item in subscriber.hear() if item.type == MessageType.NOTIFY]


def said(node: DensNode, now_ms: int) -> list[tuple[int, int, ItemId, int]]:
    """Return what the node says now, link messages apart: to whom, type, identity and hops of each."""
    out: list[tuple[int, int, ItemId, int]] = []
    for datagram in node.datagrams_to_send(now_ms):
        out += [
            (datagram.peer, one.type, one.id, one.hops)
            for one in messages_in(datagram.data, now_ms)
            if one.type >= MessageType.SUBSCRIBE
        ]
    return out


@pytest.mark.parametrize("is_early", [False, True])
@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_receipt_that_travelled_frees_the_room_of_what_it_is_for(
    is_early: bool, is_restarted: bool
) -> None:
    """The subscriber got the newer one elsewhere, so the older ones stay, for which it still waits, although
    their origin is above its share: what everybody has goes first.
    """
    limits = Limits(notification_items=3, origin_share_percent=50)
    store = MemoryStore()
    node = mediator(store, limits=limits)
    peer = ScriptedPeer(node, 3, Role.MEDIATOR)
    older, newer = [notification(4, 1), notification(4, 2)], notification(5, value=20)
    vaccine = receipt(8, newer)
    for item in (subscribe_item(SUBSCRIBER, 7, WANTED), *older):
        peer.send(item)
    for item in (vaccine, newer) if is_early else (newer, vaccine):
        peer.send(item)
    assert dropped(node) == []
    peer.hear()
    if is_restarted:
        node = mediator(store.crash(), 400, limits)
        peer = ScriptedPeer(node, 3, Role.MEDIATOR, 400)
    peer.send(notification(6))
    assert dropped(node) == [(newer.origin, "delivered")]
    assert sorted(told(node, 400)) == [item_id(4, 1), item_id(4, 2), item_id(6, 1)]


def test_earlier_receipt_prevents_a_pending_delivery() -> None:
    early, late = notification(4), notification(5)
    for said in (
        [subscribe_item(SUBSCRIBER, 7, WANTED), receipt(8, late), early, late],
        [receipt(8, late), early, late, subscribe_item(SUBSCRIBER, 7, WANTED)],
        [early, late, subscribe_item(SUBSCRIBER, 7, WANTED), receipt(8, late)],
    ):
        node = mediator()
        peer = ScriptedPeer(node, 3, Role.MEDIATOR)
        for item in said:
            peer.send(item)
        assert told(node, 400) == [early.id]


@pytest.mark.parametrize(
    "item",
    [
        subscribe_item(SUBSCRIBER, 17, subscription(6, 0, HOUR_Q, 3, 1)),
        Item(MessageType.UNSUBSCRIBE, 0, SUBSCRIBER, 17, 0, HOUR_Q, 1, bytes((5, 0))),
        receipt(17, notification(4)),
        Item(MessageType.ANNOUNCE, 0, 4, 17, 0, HOUR_Q, 1, b"\x07"),
        notification(4, 17),
    ],
    ids=["subscription", "withdrawal", "receipt", "announcement", "notification"],
)
def test_what_is_learnt_in_one_contact_is_passed_on_to_the_others_at_once_and_not_back(item: Item) -> None:
    node = mediator()
    giver, _ = (ScriptedPeer(node, mediator_node, Role.MEDIATOR) for mediator_node in (3, 8))
    giver.send(subscribe_item(SUBSCRIBER, 7, WANTED))
    assert said(node, 300) == [(8, MessageType.SUBSCRIBE, item_id(SUBSCRIBER, 7), 2)]
    giver.send(item)
    assert said(node, 600) == [(8, item.type, item.id, item.hops + 1)]


def test_an_older_announcement_that_comes_late_changes_nothing() -> None:
    node = mediator()
    peer = ScriptedPeer(node, 3, Role.MEDIATOR)
    for number, topic in ((18, 3), (17, 4)):
        peer.send(Item(MessageType.ANNOUNCE, 0, 4, number, 0, HOUR_Q, 1, bytes((topic,))))
    assert peer.refusals() == ["superseded"]
    peer.send(subscribe_item(SUBSCRIBER, 7, WANTED))
    peer.send(subscribe_item(SUBSCRIBER, 8, subscription(6, 0, HOUR_Q, 4, 1)))
    publisher = ScriptedPeer(node, 4, Role.PUBLISHER)
    assert [item.id for item in publisher.hear() if item.type == MessageType.INSTALL] == [
        item_id(SUBSCRIBER, 7)
    ]


@pytest.mark.parametrize("is_subscription_late", [False, True])
def test_event_is_pending_from_first_to_last_active_millisecond(is_subscription_late: bool) -> None:
    """A notification received only after the subscription's end is pending by the same rule."""
    node = mediator()
    peer = ScriptedPeer(node, 3, Role.MEDIATOR)
    one_second = subscribe_item(SUBSCRIBER, 7, subscription(5, 0, 0, 3, 1), created_ms=-500)

    def hear_of_events(*times_ms: int) -> None:
        for event_ms in times_ms:
            peer.send(notification(4, number=event_ms, created_ms=event_ms - peer.now_ms))

    peer.now_ms = 10_000
    if is_subscription_late:
        hear_of_events(9_499, 9_500)
    peer.send(one_second)
    peer.now_ms = 20_000
    node.timer_due(peer.now_ms)
    hear_of_events(*(() if is_subscription_late else (9_499, 9_500)), 10_499, 10_500)
    assert [one & NUMBER_MASK for one in told(node, 20_000)] == [9_500, 10_499]


@pytest.mark.parametrize("is_restarted", [False, True])
def test_what_had_to_go_for_want_of_room_is_not_fetched_again(is_restarted: bool) -> None:
    limits, store = Limits(notification_items=2, origin_share_percent=50), MemoryStore()
    node = mediator(store, limits=limits)
    peer = ScriptedPeer(node, 3, Role.MEDIATOR)
    for item in (notification(4), notification(5), notification(6)):
        peer.send(item)
    assert dropped(node) == [(4, "lowest_degree")]
    peer.hear()
    node.contact_lost(3, 300)
    if is_restarted:
        node = mediator(store.crash(), 300, limits)
    again = ScriptedPeer(node, 3, Role.MEDIATOR, 300)
    [summary] = [item for item in again.hear() if item.type == MessageType.SUMMARY]
    assert all(
        item_id(origin, 1) in decode(SummaryMessage.decode(summary.payload).known) for origin in (4, 5, 6)
    )
    again.send(notification(4))
    assert dropped(node) == []
    assert node.notification_count == 2


def test_copies_that_were_given_away_are_gone_also_after_a_restart() -> None:
    def sprayer(store: MemoryStore, now_ms: int) -> DensNode:
        policy = SprayAndWait(copies=4)
        return DensNode(
            2, Mission(7, {LANGUAGE: TOPICS}), store, now_ms, directory=TopicDirectory(), policy=policy
        )

    store = MemoryStore()
    node = sprayer(store, 0)
    ScriptedPeer(node, 4, Role.PUBLISHER).send(notification(4))
    given = []
    for meeting, other in enumerate((11, 12, 13), 1):
        peer = ScriptedPeer(node, other, Role.MEDIATOR, 1_000 * meeting)
        given += [item.copies for item in peer.hear() if item.type == MessageType.NOTIFICATION]
        taken = Acknowledgement(((4, 1, Status.STORED),)).encode()
        peer.send(Item(MessageType.ACKNOWLEDGEMENT, 0, other, LINK_NUMBER + 7, 0, 0, 0, taken))
        node.contact_lost(other, peer.now_ms)
        node.contact_opened(99, peer.now_ms)
        assert node.datagrams_to_send(peer.now_ms)  # with the greeting all is committed
        store = store.crash()
        node = sprayer(store, peer.now_ms)
    assert given == [2, 1]  # codes: two copies, one copy; the last one stays


@pytest.mark.parametrize("way", ["receipt", "acknowledgement", "summary", "refusal"])
def test_receipt_or_withdrawal_in_any_form_ends_a_pending_delivery(
    way: str,
) -> None:
    """The room of what it has is free then; what it refused is carried on for others."""
    node = mediator(limits=Limits(notification_items=2, origin_share_percent=50))
    peer = ScriptedPeer(node, 3, Role.MEDIATOR)
    older, newer = notification(4), notification(5, value=20)
    for item in (subscribe_item(SUBSCRIBER, 7, WANTED), older, newer):
        peer.send(item)
    if way == "receipt":
        peer.send(receipt(8, newer))
    elif way == "summary":
        known = encode([(newer.origin, NumberRanges([1], [1]))], 100)
        payload = SummaryMessage(Hello(Role.SUBSCRIBER, 5, 0), b"", known).encode()
        link = Item(MessageType.SUMMARY, 0, SUBSCRIBER, LINK_NUMBER + 6, 0, 0, 0, payload)
        node.contact_opened(SUBSCRIBER, 100)
        node.receive(pack(link, 7, 0, 0, 0), SUBSCRIBER, 100)
    else:
        subscriber = ScriptedPeer(node, SUBSCRIBER, Role.SUBSCRIBER, 100)
        assert newer.id in [item.id for item in subscriber.hear() if item.type == MessageType.NOTIFY]
        status = Status.STORED if way == "acknowledgement" else Status.SUPERSEDED
        taken = Acknowledgement(((newer.origin, newer.number, status),)).encode()
        subscriber.send(Item(MessageType.ACKNOWLEDGEMENT, 0, SUBSCRIBER, LINK_NUMBER + 7, 0, 0, 0, taken))
    node.contact_lost(SUBSCRIBER, 400)
    assert told(node, 500) == [older.id]
    peer.send(notification(6, value=30))
    assert dropped(node) == ([(4, "lowest_degree")] if way == "refusal" else [(5, "delivered")])


def test_new_subscription_gets_held_notifications_at_once() -> None:
    node = mediator()
    ScriptedPeer(node, 4, Role.PUBLISHER).send(notification(4))
    subscriber = ScriptedPeer(node, SUBSCRIBER, Role.SUBSCRIBER)
    assert [item for item in subscriber.hear() if item.type == MessageType.NOTIFY] == []
    subscriber.send(subscribe_item(SUBSCRIBER, 7, WANTED, created_ms=-300))
    assert [item.id for item in subscriber.hear() if item.type == MessageType.NOTIFY] == [item_id(4, 1)]


def test_what_came_too_late_to_count_is_known_and_not_offered_again() -> None:
    node = mediator()
    peer = ScriptedPeer(node, 3, Role.MEDIATOR)
    peer.send(Item(MessageType.UNSUBSCRIBE, 0, SUBSCRIBER, 8, 0, HOUR_Q, 1, bytes((5, 0))))
    peer.send(subscribe_item(SUBSCRIBER, 7, WANTED))
    assert peer.refusals() == ["superseded"]
    node.contact_lost(3, 300)
    again = ScriptedPeer(node, 3, Role.MEDIATOR, 300)
    [summary] = [item for item in again.hear() if item.type == MessageType.SUMMARY]
    assert item_id(SUBSCRIBER, 7) in decode(SummaryMessage.decode(summary.payload).known)
