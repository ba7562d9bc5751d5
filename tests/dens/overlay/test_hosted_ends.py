"""What a mediator hands to another one that hosts whom it is for, and what the host does with it."""

import pytest

from dens.interfaces import BoundLanguage
from dens.overlay.errors import LocalProtocolError
from dens.overlay.events import CopyDropped, CopyReplicated, MessageRefused, NotificationMatched
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.policies.direct import Direct
from dens.overlay.policies.encounters import ONE
from dens.overlay.policies.epidemic import Epidemic
from dens.overlay.policies.policy import ReplicationPolicy
from dens.overlay.policies.prophet import PROPHET
from dens.overlay.policies.spray_and_wait import SprayAndWait
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import DIRECT_LANGUAGE, LINK_NUMBER, MessageType, Role
from dens.overlay.wire.item import Item, item_id
from dens.overlay.wire.messages import MOST_HOSTED, Hello, Notify, Satisfied, SummaryMessage
from dens.overlay.wire.summary import decode
from emulation.fault_injection.topics import LANGUAGE, TOPICS, TopicDirectory, TopicMatcher, subscription
from tests.dens.overlay.test_engines import HOUR_Q, ScriptedPeer, events

END, OTHER, HOST, PUBLISHER = 20, 21, 8, 3


def mediator(
    policy: ReplicationPolicy, hosts: frozenset[int] = frozenset(), store: MemoryStore | None = None
) -> DensNode:
    return DensNode(
        2,
        Mission(
            7, {LANGUAGE: TOPICS, DIRECT_LANGUAGE: BoundLanguage(matchers={DIRECT_LANGUAGE: TopicMatcher})}
        ),
        store or MemoryStore(),
        0,
        directory=TopicDirectory(),
        policy=policy,
        hosts=hosts,
    )


def asks(origin: int, language: int = LANGUAGE, number: int = 1) -> Item:
    vector = subscription(1, 0, HOUR_Q, 5, 0)
    return Item(MessageType.SUBSCRIBE, language, origin, number, -1_000, HOUR_Q, 1, vector)


def event(number: int = 1, copies: int = 0, language: int = LANGUAGE) -> Item:
    return Item(MessageType.NOTIFICATION, language, PUBLISHER, number, 0, HOUR_Q, 1, bytes((5, 90)), copies)


def handed(number: int = 1) -> Item:
    notify = Notify((Satisfied(1, 0, 90),), bytes((5, 90)))
    return event(number).replace(type=int(MessageType.NOTIFY), payload=notify.encode())


class Host(ScriptedPeer):
    """A mediator that hosts these ends, or none."""

    def __init__(self, engine: DensNode, hosts: tuple[int, ...] = (END,), node: int = HOST) -> None:
        self.engine, self.node, self.now_ms = engine, node, 0
        engine.contact_opened(node, 0)
        payload = SummaryMessage(Hello(Role.MEDIATOR, 5, 0), b"", b"", hosts).encode()
        self.send(Item(MessageType.SUMMARY, 0, node, LINK_NUMBER + 6, 0, 0, 0, payload))


def heard(peer: ScriptedPeer, type: MessageType) -> list[Item]:
    return [item for item in peer.hear() if item.type == type]


def carrier(policy: ReplicationPolicy, copies: int = 0) -> DensNode:
    """Return a mediator that has the endpoint's subscription and carries its pending deliveries."""
    node = mediator(policy)
    teller = Host(node, (), 9)
    teller.send(asks(END))
    teller.send(event(copies=copies))
    events(node)
    node.contact_lost(9, 0)
    return node


@pytest.mark.parametrize(("policy", "copies"), [(Direct(), 0), (SprayAndWait(8), 1)])
def test_host_receives_the_pending_deliveries_of_its_endpoint_only(
    policy: ReplicationPolicy, copies: int
) -> None:
    node = carrier(policy, copies)
    [notify] = [item for item in Host(node).hear() if item.id == item_id(PUBLISHER, 1)]
    assert (notify.type, notify.copies) == (MessageType.NOTIFY, 0)
    assert Notify.decode(notify.payload) == Notify((Satisfied(1, 0, 90),), bytes((5, 90)))
    assert all(item.id != item_id(PUBLISHER, 1) for item in Host(node, (OTHER,), 10).hear())


def test_delivering_to_a_host_costs_no_copies() -> None:
    node = carrier(SprayAndWait(8), copies=1)
    host = Host(node)
    assert heard(host, MessageType.NOTIFY)
    answer = bytes((0, 0, 0, PUBLISHER, 0, 0, 0, 1, 0))
    host.send(Item(MessageType.ACKNOWLEDGEMENT, 0, HOST, LINK_NUMBER + 7, 0, 0, 0, answer))
    assert node.state.items[item_id(PUBLISHER, 1)].copies == 1


def test_what_a_policy_shares_with_a_host_goes_as_ever() -> None:
    node = carrier(SprayAndWait(8))
    [copy] = [item for item in Host(node).hear() if item.id == item_id(PUBLISHER, 1)]
    assert (copy.type, copy.copies) == (MessageType.NOTIFICATION, 3)


def test_a_subscription_that_comes_within_the_contact_is_served_in_it() -> None:
    """As when its host brings it: of plain messages a carrier learns there who wants them."""
    for language in (LANGUAGE, DIRECT_LANGUAGE):
        node = mediator(Direct())
        publisher = ScriptedPeer(node, PUBLISHER, Role.PUBLISHER)
        publisher.send(event(language=language))
        host = Host(node)
        assert not heard(host, MessageType.NOTIFY)
        host.send(asks(END, language))
        assert [item.id for item in heard(host, MessageType.NOTIFY)] == [item_id(PUBLISHER, 1)]


def test_host_forwards_only_plain_subscriptions_of_its_own_endpoints() -> None:
    node = mediator(Direct(), frozenset({END}))
    end = ScriptedPeer(node, END, Role.SUBSCRIBER)
    end.send(asks(END, DIRECT_LANGUAGE))
    Host(node, (OTHER,), 9).send(asks(OTHER, DIRECT_LANGUAGE))
    node.contact_lost(9, 0)
    told = heard(Host(node, (), 10), MessageType.SUBSCRIBE)
    assert [item.origin for item in told] == [END]


def test_hosts_are_named_to_mediators_and_only_where_the_policy_may_keep_something_back() -> None:
    def named(policy: ReplicationPolicy, role: Role) -> tuple[int, ...]:
        node = mediator(policy, frozenset({END, OTHER}))
        [summary] = heard(ScriptedPeer(node, HOST, role), MessageType.SUMMARY)
        return SummaryMessage.decode(summary.payload).hosts

    assert named(Direct(), Role.MEDIATOR) == (END, OTHER)
    assert named(Direct(), Role.SUBSCRIBER) == named(Direct(), Role.PUBLISHER) == ()
    assert named(Epidemic(), Role.MEDIATOR) == ()


def hosting(policy: ReplicationPolicy, store: MemoryStore | None = None) -> tuple[DensNode, Host]:
    """Return a host that was handed a notification for its end, and who handed it; another end wants it
    too."""
    node = mediator(policy, frozenset({END}), store)
    giver = Host(node, (), 9)
    giver.send(asks(END))
    giver.send(asks(OTHER))
    giver.send(handed())
    return node, giver


def test_host_delivers_only_to_its_own_endpoints() -> None:
    node, _ = hosting(SprayAndWait(8))
    happened = events(node)
    assert [one.subscriber for one in happened if isinstance(one, NotificationMatched)] == [END]
    assert [one.item.type for one in happened if isinstance(one, CopyReplicated)][-1] == MessageType.NOTIFY
    assert not heard(ScriptedPeer(node, OTHER, Role.SUBSCRIBER), MessageType.NOTIFY)
    assert all(item.id != item_id(PUBLISHER, 1) for item in Host(node, (OTHER,), 10).hear())
    assert len(heard(ScriptedPeer(node, END, Role.SUBSCRIBER), MessageType.NOTIFY)) == 1


def test_what_its_ends_have_a_host_forgets_and_may_carry_later() -> None:
    node, giver = hosting(SprayAndWait(8))
    end = ScriptedPeer(node, END, Role.SUBSCRIBER)
    assert heard(end, MessageType.NOTIFY)
    answer = bytes((0, 0, 0, PUBLISHER, 0, 0, 0, 1, 0))
    end.send(Item(MessageType.ACKNOWLEDGEMENT, 0, END, LINK_NUMBER + 7, 0, 0, 0, answer))
    dropped = [one for one in events(node) if isinstance(one, CopyDropped)]
    assert [(one.item.id, one.reason) for one in dropped] == [(item_id(PUBLISHER, 1), "delivered")]
    assert node.notification_count == 0
    giver.send(handed())  # the same frame once more
    assert node.notification_count == 0
    node.contact_lost(9, 0)
    fresh = Host(node, (), 9)
    [summary] = heard(fresh, MessageType.SUMMARY)
    assert item_id(PUBLISHER, 1) not in decode(SummaryMessage.decode(summary.payload).known)
    fresh.send(event(copies=3))
    assert node.state.items[item_id(PUBLISHER, 1)].copies == 3


def test_a_receipt_or_a_withdrawal_ends_a_copy_that_was_handed() -> None:
    for message in (
        Item(MessageType.RECEIPT, 0, END, 2, 0, HOUR_Q, 1, bytes((0, 0, 0, PUBLISHER, 0, 0, 0, 1))),
        Item(MessageType.UNSUBSCRIBE, 0, END, 2, 0, HOUR_Q, 1, bytes((1, 0))),
        asks(END, number=2).replace(payload=subscription(1, 1, HOUR_Q, 6, 0)),
    ):
        node, giver = hosting(Direct())
        assert node.notification_count == 1
        giver.send(message)
        assert node.notification_count == 0


def test_what_its_ends_have_or_do_not_want_is_not_taken() -> None:
    node = mediator(Direct(), frozenset({END}))
    giver = Host(node, (), 9)
    giver.send(handed())
    assert giver.refusals() == ["superseded"]
    giver.send(asks(END))
    giver.send(Item(MessageType.RECEIPT, 0, END, 2, 0, HOUR_Q, 1, bytes((0, 0, 0, PUBLISHER, 0, 0, 0, 1))))
    giver.send(handed())
    assert giver.refusals() == []
    assert node.notification_count == 0


def test_a_copy_that_was_handed_stays_one_after_a_restart() -> None:
    store = MemoryStore()
    _, giver = hosting(SprayAndWait(8), store)
    giver.hear()  # commits, for what is acknowledged
    again = mediator(SprayAndWait(8), frozenset({END}), store.crash())
    assert again.notification_count == 1
    assert all(item.id != item_id(PUBLISHER, 1) for item in Host(again, (OTHER,), 10).hear())
    assert not heard(ScriptedPeer(again, OTHER, Role.SUBSCRIBER), MessageType.NOTIFY)
    assert len(heard(ScriptedPeer(again, END, Role.SUBSCRIBER), MessageType.NOTIFY)) == 1
    again.timer_due(10**9)
    assert again.notification_count == 0


def test_a_notify_is_taken_from_mediators_by_hosts_only() -> None:
    node = mediator(Direct(), frozenset({END}))
    ScriptedPeer(node, PUBLISHER, Role.PUBLISHER).send(handed())
    nobody = mediator(Direct())
    Host(nobody, (), 9).send(handed())
    for one in (node, nobody):
        assert [event.reason for event in events(one) if isinstance(event, MessageRefused)] == ["unexpected"]


def test_encounters_count_a_host_as_its_ends_and_as_certain_to_meet_them() -> None:
    policy = PROPHET(2)
    policy.met(HOST, True, b"", 0, (END,))
    known = policy._encounters
    assert known.likelihood(END, 0) == known.likelihood(HOST, 0) == ONE // 2
    assert known.likelihood_of_peer(HOST, END) == ONE
    for second in range(64):
        policy.met(HOST, True, b"", second, (END,))
    assert policy.share(event(), (END,), HOST, 64) == 0


def test_policy_is_not_consulted_for_endpoints_of_the_same_device() -> None:
    """No peer is likelier to meet them, whatever probability it reports."""
    node = mediator(PROPHET(2), frozenset({END}))
    peer = Host(node, (), 9)
    peer.send(asks(END))
    peer.send(event())
    node.contact_lost(9, 0)
    node.contact_opened(10, 0)
    likely = SummaryMessage(Hello(Role.MEDIATOR, 5, 0), bytes((0, END, 255, 255)), b"").encode()
    other = Host(node, (), 10)
    other.send(Item(MessageType.SUMMARY, 0, 10, LINK_NUMBER + 7, 0, 0, 0, likely))
    assert all(item.id != item_id(PUBLISHER, 1) for item in other.hear())


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        (frozenset(range(10, 11 + MOST_HOSTED)), "hosts at most 64 endpoints, not 65"),
        (frozenset({2}), "node 2 does not host itself"),
        (frozenset({2**31}), "2147483648 is not a node number"),
    ],
)
def test_who_cannot_be_hosted_is_refused(hosts: frozenset[int], message: str) -> None:
    with pytest.raises(LocalProtocolError, match=message):
        mediator(Direct(), hosts)
