"""A publisher's end: what a mediator asks it for, which filters it has, before and after a restart, and what
it does when it is full.
"""

import pytest

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.events import CopyDropped
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import MessageType, Role
from dens.overlay.wire.item import ENVELOPE_BYTES, LIFETIME_MS, Item
from dens.overlay.wire.messages import Subscribed
from emulation.fault_injection.topics import LANGUAGE, TopicHost, subscription
from tests.dens.overlay.test_engines import HOUR_Q, ScriptedPeer, events, mediator, subscribe_item
from watchdog.header import body_of

SECOND_Q = 0
WANTED = subscription(5, 0, HOUR_Q, 3, 1)


def install(id: int, seq: int = 0, lifetime_q: int = HOUR_Q) -> Item:
    vector = subscription(id, seq, lifetime_q, 3, 1)
    return subscribe_item(1, 10 * id + seq, vector).replace(type=MessageType.INSTALL)


def remove(id: int, seq: int = 0) -> Item:
    return Item(MessageType.REMOVE, 0, 1, 100 + 10 * id + seq, 0, HOUR_Q, 1, bytes((id, seq)))


class FullHost(TopicHost):
    """A filter host without any room."""

    def install(
        self, origin: int, id: int, seq: int, language: int, vector: bytes, remaining_ms: int, now_ms: int
    ) -> int:
        return 4


def test_a_publisher_whose_watchdog_is_full_says_so_and_keeps_no_filter() -> None:
    end = PublisherEndpoint(4, Mission(7), MemoryStore(), 0, filter_host=FullHost())
    peer = ScriptedPeer(end, 2, Role.MEDIATOR)
    peer.send(install(5))
    assert peer.refusals() == ["no_room"]
    assert end.filter_count == 0


def test_filters_and_removals_are_bounded_and_a_new_revision_is_none_more() -> None:
    host = TopicHost()
    end = PublisherEndpoint(
        4, Mission(7, limits=Limits(subscriptions=2, tombstones=2)), MemoryStore(), 0, filter_host=host
    )
    peer = ScriptedPeer(end, 2, Role.MEDIATOR)
    for item in (install(5), install(6), install(7), install(5, seq=1)):
        peer.send(item)
    assert peer.refusals() == ["no_room"]
    assert {key: installed[0] for key, installed in host.installed.items()} == {(1, 5): 1, (1, 6): 0}
    for item in (remove(5, seq=1), remove(8), remove(6)):
        peer.send(item)
    assert peer.refusals() == ["no_room"]
    assert set(host.installed) == {(1, 6)}


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_removed_filter_does_not_come_back_with_an_older_copy(is_restarted: bool) -> None:
    store, host = MemoryStore(), TopicHost()
    end = PublisherEndpoint(4, Mission(7), store, 0, filter_host=host)
    peer = ScriptedPeer(end, 2, Role.MEDIATOR)
    for item in (install(5, seq=1), remove(5, seq=1), install(6)):
        peer.send(item)
    peer.hear()
    if is_restarted:
        host = TopicHost()
        end = PublisherEndpoint(4, Mission(7), store.crash(), 300, filter_host=host)
        peer = ScriptedPeer(end, 2, Role.MEDIATOR, 300)
    assert set(host.installed) == {(1, 6)}
    peer.send(install(5, seq=0))
    assert peer.refusals() == ["superseded"]
    peer.send(install(5, seq=2))
    assert {key: installed[0] for key, installed in host.installed.items()} == {(1, 5): 2, (1, 6): 0}


def test_filter_that_expired_without_contact_is_not_reinstalled() -> None:
    store = MemoryStore()
    peer = ScriptedPeer(PublisherEndpoint(4, Mission(7), store, 0, filter_host=TopicHost()), 2, Role.MEDIATOR)
    for item in (install(5, lifetime_q=SECOND_Q), install(6)):
        peer.send(item)
    peer.hear()
    for now_ms, ids in ((LIFETIME_MS[SECOND_Q] - 1, {5, 6}), (LIFETIME_MS[SECOND_Q], {6})):
        host = TopicHost()
        PublisherEndpoint(4, Mission(7), store.crash(), now_ms, filter_host=host)
        assert {id for _, id in host.installed} == ids


def test_full_outbox_drops_reports_and_does_not_send() -> None:
    end = PublisherEndpoint(
        4, Mission(7, limits=Limits(notification_items=2)), MemoryStore(), 0, filter_host=TopicHost()
    )
    for value in range(4):
        end.publish(LANGUAGE, bytes((3, value)), HOUR_Q, value)
    gone = [event for event in events(end) if isinstance(event, CopyDropped)]
    assert [(event.item.payload[1], event.reason) for event in gone] == [
        (0, "lowest_degree"),
        (1, "lowest_degree"),
    ]
    sent = [
        item
        for item in ScriptedPeer(end, 2, Role.MEDIATOR, 4).hear()
        if item.type == MessageType.NOTIFICATION
    ]
    assert [item.payload[1] for item in sent] == [2, 3]
    assert end.held() == (0, 2, 2 * (ENVELOPE_BYTES + 2))


def talk(node: DensNode, publisher: PublisherEndpoint, now_ms: int) -> int:
    """Let two that are in contact say all that they have to say; return the time afterwards."""
    for later_ms in range(now_ms, now_ms + 2_000, 100):
        for speaker, hearer in ((node, publisher), (publisher, node)):
            speaker.timer_due(later_ms)
            for datagram in speaker.datagrams_to_send(later_ms):
                if datagram.peer == hearer.node:
                    hearer.receive(datagram.data, speaker.node, later_ms)
    return now_ms + 2_000


@pytest.mark.parametrize("is_there", [False, True])
@pytest.mark.parametrize("is_announced_first", [False, True])
def test_publisher_gets_install_in_any_order_and_for_renewals(
    is_there: bool, is_announced_first: bool
) -> None:
    node, host = mediator(), TopicHost()
    publisher = PublisherEndpoint(4, Mission(7), MemoryStore(), 0, filter_host=host)
    peer = ScriptedPeer(node, 3, Role.MEDIATOR)
    renewal = Subscribed(50, WANTED).encode_renew()

    def meet() -> None:
        node.contact_opened(4, 0)
        publisher.contact_opened(2, 0)

    if is_there:
        meet()
    for is_announcement in (is_announced_first, not is_announced_first):
        if is_announcement:
            publisher.announce(b"\x03", 0)
        else:
            peer.send(Item(MessageType.RENEW, LANGUAGE, 1, 7, 0, HOUR_Q, 1, renewal))
        if is_there:
            talk(node, publisher, 0)
    if not is_there:
        meet()
        talk(node, publisher, 0)
    assert [(key, installed[1]) for key, installed in host.installed.items()] == [((1, 5), body_of(WANTED))]


@pytest.mark.parametrize("is_away", [False, True])
def test_a_withdrawal_reaches_the_publisher_that_is_there_and_the_one_that_comes_back(is_away: bool) -> None:
    node, host = mediator(), TopicHost()
    publisher = PublisherEndpoint(4, Mission(7), MemoryStore(), 0, filter_host=host)
    publisher.announce(b"\x03", 0)
    peer = ScriptedPeer(node, 3, Role.MEDIATOR)
    peer.send(subscribe_item(1, 7, WANTED))
    node.contact_opened(4, 0)
    publisher.contact_opened(2, 0)
    now_ms = talk(node, publisher, 0)
    assert set(host.installed) == {(1, 5)}
    if is_away:
        node.contact_lost(4, now_ms)
        publisher.contact_lost(2, now_ms)
    peer.send(Item(MessageType.UNSUBSCRIBE, 0, 1, 8, 0, HOUR_Q, 1, bytes((5, 0))))
    if is_away:
        node.contact_opened(4, now_ms)
        publisher.contact_opened(2, now_ms)
    talk(node, publisher, now_ms)
    assert host.installed == {}


def test_a_publisher_learns_from_a_summary_what_was_taken_when_the_answer_was_lost() -> None:
    node, end = mediator(), PublisherEndpoint(4, Mission(7), MemoryStore(), 0, filter_host=TopicHost())
    told = end.publish(LANGUAGE, b"\x03\x09", HOUR_Q, 0)

    def meet(now_ms: int, *, is_answered: bool) -> None:
        """Let them talk for half a second; without answers nothing is heard of a mediator that has it."""
        for machine, peer in ((node, 4), (end, 2)):
            machine.contact_lost(peer, now_ms)
            machine.contact_opened(peer, now_ms)
        for step_ms in range(now_ms, now_ms + 500, 10):
            for datagram in end.datagrams_to_send(step_ms):
                node.receive(datagram.data, 4, step_ms)
            for datagram in node.datagrams_to_send(step_ms):
                if is_answered or node.notification_count == 0:
                    end.receive(datagram.data, 2, step_ms)

    meet(0, is_answered=False)
    assert node.notification_count == 1
    assert not end.is_taken(told)
    meet(1_000, is_answered=True)
    assert end.is_taken(told)
