"""Every bound of a mediator: what it refuses when it is full, what it lets go, and that it says so."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from dens.overlay.events import CopyDropped, MessageRefused
from dens.overlay.limits import Limits
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import MessageType, Role
from dens.overlay.wire.item import ENVELOPE_BYTES, Item, item_id
from dens.overlay.wire.messages import Receipt
from emulation.fault_injection.topics import LANGUAGE, subscription
from tests.dens.overlay.test_engines import HOUR_Q, ScriptedPeer, events, mediator, subscribe_item

FULL = Limits(subscriptions=2, tombstones=2, receipts=2, announcements=2)


def asked(id: int) -> Item:
    return subscribe_item(1, 10 + id, subscription(id, 0, HOUR_Q, 3, 1))


def taken_back(id: int) -> Item:
    return Item(MessageType.UNSUBSCRIBE, 0, 1, 20 + id, 0, HOUR_Q, 1, bytes((id, 0)))


def received(number: int) -> Item:
    return Item(MessageType.RECEIPT, 0, 1, 30 + number, 0, HOUR_Q, 1, Receipt(item_id(4, number)).encode())


def announced(publisher: int) -> Item:
    """The higher its number, the older it is."""
    return Item(MessageType.ANNOUNCE, 0, publisher, 40 + publisher, -1_000 * publisher, HOUR_Q, 1, b"\x03")


@pytest.mark.parametrize(
    ("items", "refused", "let_go"),
    [
        ([asked(1), asked(2), asked(3)], [13], []),
        ([taken_back(1), taken_back(2), taken_back(3)], [23], []),
        ([received(1), received(2), received(3)], [], [(31, "oldest")]),
        ([announced(3), announced(2), announced(1)], [], [(43, "oldest")]),
        ([announced(1), announced(2), announced(3)], [43], [(43, "oldest")]),
    ],
    ids=["subscriptions", "withdrawals", "receipts", "announcements", "an older announcement"],
)
@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_full_mediator_says_what_it_did_not_keep(
    items: list[Item], refused: list[int], let_go: list[tuple[int, str]], is_restarted: bool
) -> None:
    store = MemoryStore()
    node = mediator(store, limits=FULL)
    peer = ScriptedPeer(node, 3, Role.MEDIATOR)
    for item in items[:2]:
        peer.send(item)
    peer.hear()
    assert not any(isinstance(event, CopyDropped | MessageRefused) for event in events(node))
    if is_restarted:
        node = mediator(store.crash(), 400, FULL)
        peer = ScriptedPeer(node, 3, Role.MEDIATOR, 400)
    peer.send(items[2])
    happened = events(node)
    assert [
        (event.item.number, event.reason) for event in happened if isinstance(event, CopyDropped)
    ] == let_go
    refusals = [event for event in happened if isinstance(event, MessageRefused)]
    assert [event.item.number for event in refusals] == refused
    assert all(event.reason == "no_room" for event in refusals)


def test_a_full_mediator_still_takes_a_new_revision_and_what_makes_room() -> None:
    node = mediator(limits=FULL)
    peer = ScriptedPeer(node, 3, Role.MEDIATOR)
    for item in (asked(1), asked(2), subscribe_item(1, 15, subscription(1, 1, HOUR_Q, 3, 2)), taken_back(2)):
        peer.send(item)
    peer.send(asked(3))
    assert peer.refusals() == []
    assert node.subscription_count == 2


SIZE = ENVELOPE_BYTES + 2


@pytest.mark.parametrize(
    "limits", [Limits(notification_items=4), Limits(notification_bytes=4 * SIZE + SIZE - 1)]
)
@pytest.mark.parametrize("is_restarted", [False, True])
def test_notifications_are_bounded_in_items_and_in_bytes_and_shares_are_counted(
    limits: Limits, is_restarted: bool
) -> None:
    """Each has SIZE bytes. The one that has more than its share gives way, whoever comes."""
    store = MemoryStore()
    node = mediator(store, limits=limits)
    peer = ScriptedPeer(node, 3, Role.MEDIATOR)

    def tell(origin: int, number: int) -> list[tuple[int, str | None]]:
        peer.send(Item(MessageType.NOTIFICATION, LANGUAGE, origin, number, 0, HOUR_Q, 1, b"\x03\x09"))
        return [(event.item.origin, event.reason) for event in events(node) if isinstance(event, CopyDropped)]

    for origin, number in ((4, 1), (5, 1), (5, 2), (6, 1)):
        assert tell(origin, number) == []
    peer.hear()
    if is_restarted:
        node = mediator(store.crash(), 400, limits)
        peer = ScriptedPeer(node, 3, Role.MEDIATOR, 400)
    assert (node.notification_count, node.notification_bytes) == (4, 4 * SIZE)
    assert tell(7, 1) == [(5, "over_quota")]
    assert tell(8, 1) == [(4, "lowest_degree")]
    assert (node.notification_count, node.notification_bytes) == (4, 4 * SIZE)


def short(item: Item) -> Item:
    """Return a message that lives for a second."""
    if item.type == MessageType.SUBSCRIBE:
        return item.replace(lifetime_q=0, payload=item.payload[:2] + b"\x00" + item.payload[3:])
    return item.replace(lifetime_q=0)


@pytest.mark.parametrize(
    "made", [asked, taken_back, received, announced], ids=["subscribed", "withdrawn", "received", "announced"]
)
def test_what_has_ended_takes_no_room_and_no_part_any_more(made: Callable[[int], Item]) -> None:
    """Also not as something newer: a node that lost its store begins with low numbers and revisions again."""
    node = mediator(limits=replace(FULL, linger_ms=0, remember_ms=0))
    peer = ScriptedPeer(node, 3, Role.MEDIATOR)
    for number in (1, 2):
        item = made(number)
        peer.send(short(item.replace(number=item.number + 500, created_ms=0)))
    peer.now_ms = 2_000
    node.timer_due(2_000)
    events(node)
    for number in (1, 2):
        peer.send(made(number))
    assert not any(isinstance(event, CopyDropped | MessageRefused) for event in events(node))


def test_what_ended_while_it_waited_to_be_sent_is_not_sent() -> None:
    node = mediator()
    peers = [ScriptedPeer(node, number, Role.MEDIATOR) for number in (3, 8)]
    message = Item(MessageType.NOTIFICATION, LANGUAGE, 4, 1, 0, 0, 1, b"\x03\x09")
    peers[0].send(message)
    peers[0].send(message.replace(number=2, lifetime_q=HOUR_Q))
    sent = [item.number for item in peers[1].hear(1_000) if item.type == MessageType.NOTIFICATION]
    assert sent == [2]
