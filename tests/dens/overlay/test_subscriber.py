"""A subscriber's end: what it buries and for how long, what it shows, and what it does when it is full."""

import pytest

from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import CopyDropped, NotificationDelivered
from dens.overlay.limits import Limits
from dens.overlay.mission import Mission
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import DIRECT_LANGUAGE, MessageType, Role
from dens.overlay.wire.item import LIFETIME_MS, Item, item_id
from dens.overlay.wire.messages import Notify, Satisfied, Subscribed
from emulation.fault_injection.topics import LANGUAGE, subscription
from tests.dens.overlay.test_engines import HOUR_Q, ScriptedPeer, events

SHORT_Q = 24


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.parametrize("is_renewed", [False, True])
def test_a_withdrawal_outlives_every_revision_there_ever_was(is_restarted: bool, is_renewed: bool) -> None:
    """Not only the last one: a copy of the first may still be carried somewhere."""
    store = MemoryStore()
    end = SubscriberEndpoint(1, Mission(7), store, 0)
    end.subscribe(subscription(5, 0, HOUR_Q, 3, 1), LANGUAGE, 0)
    end.subscribe(subscription(5, 1, SHORT_Q, 3, 1), LANGUAGE, 10)
    if is_renewed:
        end.renew(5, SHORT_Q, 20)
    end.datagrams_to_send(20)
    if is_restarted:
        end = SubscriberEndpoint(1, Mission(7), store.crash(), 20)
    end.unsubscribe(5, 30)
    heard = ScriptedPeer(end, 2, Role.MEDIATOR, 30).hear()
    last = max(
        (item for item in heard if item.type == MessageType.UNSUBSCRIBE), key=lambda item: item.payload[1]
    )
    assert last.payload == bytes((5, 1))
    assert last.expires_ms > LIFETIME_MS[HOUR_Q]
    assert end.in_force == ()
    assert end.next_seq(5) == 2


def notify(number: int, *satisfied: tuple[int, int, int], origin: int = 4) -> Item:
    payload = Notify(tuple(Satisfied(*one) for one in satisfied), b"\x03\x09").encode()
    return Item(MessageType.NOTIFY, LANGUAGE, origin, number, 0, HOUR_Q, 2, payload)


def test_what_satisfies_only_what_was_withdrawn_or_replaced_is_refused_and_not_shown() -> None:
    end = SubscriberEndpoint(1, Mission(7), MemoryStore(), 0)
    for id, seq in ((5, 0), (5, 1), (6, 0)):
        end.subscribe(subscription(id, seq, HOUR_Q, 3, 1), LANGUAGE, 0)
    end.unsubscribe(6, 0)
    peer = ScriptedPeer(end, 2, Role.MEDIATOR)
    peer.send(notify(1, (5, 0, 9)))
    peer.send(notify(2, (6, 0, 9)))
    assert peer.refusals() == ["superseded", "superseded"]
    peer.send(notify(3, (5, 0, 9), (5, 1, 8), (6, 0, 7)))
    shown = [event for event in events(end) if isinstance(event, NotificationDelivered)]
    assert [(event.item.number, event.satisfied) for event in shown] == [(3, (Satisfied(5, 1, 8),))]


def test_a_subscriber_keeps_so_many_receipts_and_lets_the_oldest_go() -> None:
    end = SubscriberEndpoint(1, Mission(7, limits=Limits(receipts=2)), MemoryStore(), 0)
    end.subscribe(subscription(5, 0, HOUR_Q, 3, 1), LANGUAGE, 0)
    peer = ScriptedPeer(end, 2, Role.MEDIATOR)
    for number in range(4):
        peer.send(notify(number, (5, 0, 9)))
    gone = [event for event in events(end) if isinstance(event, CopyDropped)]
    assert [(event.item.type, event.reason) for event in gone] == [(MessageType.RECEIPT, "oldest")] * 2
    assert [event.item.payload[-1] for event in gone] == [0, 1]
    kept = [item.payload[-1] for item in peer.hear() if item.type == MessageType.RECEIPT]
    assert kept == [2, 3]


def test_a_subscriber_that_can_remember_no_more_refuses_and_a_flood_leaves_half_to_others() -> None:
    end = SubscriberEndpoint(
        1, Mission(7, limits=Limits(known_items=8, origin_share_percent=25)), MemoryStore(), 0
    )
    end.subscribe(subscription(5, 0, HOUR_Q, 3, 1), LANGUAGE, 0)
    peer = ScriptedPeer(end, 2, Role.MEDIATOR)
    for number in range(6):
        peer.send(notify(number, (5, 0, 9)))
    shown = [event.item.id for event in events(end) if isinstance(event, NotificationDelivered)]
    assert shown == [item_id(4, 0), item_id(4, 1), item_id(4, 2), item_id(4, 3)]
    for origin in range(10, 16):
        peer.send(notify(1, (5, 0, 9), origin=origin))
    shown = [event.item.id for event in events(end) if isinstance(event, NotificationDelivered)]
    assert shown == [item_id(10, 1), item_id(11, 1), item_id(12, 1), item_id(13, 1)]


def test_a_plain_subscription_can_be_renewed() -> None:
    """It has no beginning, so a renewal says nothing of how long it has been in force."""
    end = SubscriberEndpoint(1, Mission(7), MemoryStore(), 0)
    end.subscribe(subscription(5, 0, HOUR_Q, 3, 1), DIRECT_LANGUAGE, 0)
    end.renew(5, HOUR_Q + 8, 10_000)
    [renewed] = end.in_force
    assert renewed.item.type == MessageType.RENEW
    assert renewed.since_ms < 0 < renewed.until_ms
    assert Subscribed.from_renew(renewed.item.payload).in_force_ms == 0
