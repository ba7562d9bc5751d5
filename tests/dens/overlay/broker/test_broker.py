"""The messages between brokers: trees, JOINs and PRUNEs, and what is refused."""

import pytest

from dens.overlay.broker.options import BrokerOptions
from dens.overlay.events import DatagramRefused, MessageRefused, RoutesChanged
from dens.overlay.wire.broker_messages import Join, Prune
from dens.overlay.wire.codes import ADVERTISE, JOIN, NOTIFICATION, PRUNE, UNADVERTISE
from dens.overlay.wire.item import Item
from emulation.fault_injection.topics import LANGUAGE, subscription
from tests.dens.overlay.broker.net import HOUR_Q, BrokerNet
from tests.dens.overlay.broker.topic_routing import TABLES

RING = [(1, 2), (2, 3), (3, 4), (1, 4)]


def told(net: BrokerNet, type: int, *, since: int = 0) -> list[tuple[int, int]]:
    """Return (sender, receiver) of the messages of this type, in order."""
    return [(node, peer) for node, peer, item in net.words[since:] if item.type == type]


def joined(net: BrokerNet, sender: int, receiver: int, *, since: int = 0) -> list[tuple[int, bytes]]:
    """Return the publisher and the content of each request from one broker to another, in order."""
    said = [
        Join.decode(item.payload)
        for node, peer, item in net.words[since:]
        if item.type == JOIN and (node, peer) == (sender, receiver)
    ]
    return [(one.publisher, one.vector[3:]) for one in said]


def refused(net: BrokerNet, reason: str) -> list[tuple[int, int]]:
    return [
        (node, event.item.type)
        for node, event in net.events
        if isinstance(event, MessageRefused) and event.reason == reason
    ]


def test_an_advertisement_floods_and_every_broker_has_one_parent() -> None:
    net = BrokerNet([*RING, (1, 200)])
    net.advertise(200, 0, 1)
    net.run()
    parents = {one.node: one.broker.advertisements.trees[200].parent for one in net.brokers}
    assert parents[1] == 200
    assert parents[2] == parents[4] == 1
    assert parents[3] in (2, 4)


def test_what_is_wanted_goes_to_parents_of_trees_that_it_intersects_alone() -> None:
    net = BrokerNet([(1, 2), (2, 3), (1, 200), (3, 201), (2, 100)])
    net.advertise(200, 0, 1)
    net.advertise(201, 0, 2)
    net.run()
    net.subscribe(100, 0, 1, 10)
    net.run()
    assert joined(net, 2, 1) == [(200, bytes((1, 10)))]
    assert joined(net, 2, 3) == []
    net.advertise(201, 1, 1)
    net.run()
    assert joined(net, 2, 3) == [(201, bytes((1, 10)))]
    net.unadvertise(201, 1)
    net.run()
    assert told(net, PRUNE) == [(2, 3)]
    assert not net.broker(3).broker.entries


def test_covered_join_is_sent_when_uncovered_before_its_cover_is_pruned() -> None:
    net = BrokerNet([(1, 2), (1, 200), (2, 100), (2, 101)])
    net.advertise(200, 0, 1)
    net.subscribe(100, 0, 1, 10)
    net.run()
    net.subscribe(101, 0, 1, 90)
    net.run()
    assert joined(net, 2, 1) == [(200, bytes((1, 10)))]
    since = len(net.words)
    net.unsubscribe(100, 0)
    net.run()
    assert [item.type for node, peer, item in net.words[since:] if item.type in (JOIN, PRUNE)] == [
        JOIN,
        PRUNE,
    ]
    assert joined(net, 2, 1, since=since) == [(200, bytes((1, 90)))]


def test_make_comes_before_break_though_the_word_that_makes_is_lost() -> None:
    net = BrokerNet([(1, 2), (1, 200), (2, 100), (2, 101)])
    net.advertise(200, 0, 1)
    net.subscribe(100, 0, 1, 10)
    net.subscribe(101, 0, 1, 90)
    net.run()
    net.unsubscribe(100, 0)
    net.air.loss = 1.0
    net.run(150)
    net.air.loss = 0.0
    since = len(net.words)
    net.run()
    kinds = [item.type for node, peer, item in net.words[since:] if (node, peer) == (2, 1)]
    assert PRUNE in kinds
    net.publish(200, 1, 200)
    net.run()
    assert set(net.delivered) == net.oracle.owed
    assert len(net.broker(1).broker.entries) == 1


def test_merger_is_sent_instead_of_its_members_and_dissolves() -> None:
    net = BrokerNet([(1, 2), (1, 200), (2, 100), (2, 101)], table=TABLES["merging"])
    net.advertise(200, 0, 1)
    net.subscribe(100, 0, 1, 90)
    net.run()
    net.subscribe(101, 0, 1, 60)
    net.run()
    assert joined(net, 2, 1) == [(200, bytes((1, 90))), (200, bytes((1, 60)))]
    assert net.broker(2).broker.requests.counts(1) == (1, 0, 1)
    net.unsubscribe(101, 0)
    net.run()
    assert joined(net, 2, 1)[2:] == [(200, bytes((1, 90)))]
    assert net.broker(2).broker.requests.counts(1) == (1, 0, 0)


def test_an_included_advertisement_is_not_passed_on_until_it_is_needed() -> None:
    net = BrokerNet([(1, 2), (2, 3), (1, 200)])
    net.advertise(200, 0, 1, 10)
    net.run()
    net.advertise(200, 1, 1, 50)
    net.run()
    assert told(net, ADVERTISE) == [(200, 1), (1, 2), (2, 3), (200, 1)]
    since = len(net.words)
    net.unadvertise(200, 0)
    net.run()
    passed = [
        (node, peer, item.type)
        for node, peer, item in net.words[since:]
        if item.type in (ADVERTISE, UNADVERTISE) and node != 200
    ]
    assert passed == [(1, 2, ADVERTISE), (1, 2, UNADVERTISE), (2, 3, ADVERTISE), (2, 3, UNADVERTISE)]
    assert list(net.broker(3).broker.advertisements.trees[200].held) == [1]


def test_a_publisher_that_advertises_again_begins_a_tree() -> None:
    net = BrokerNet([*RING, (1, 200), (3, 100)])
    net.advertise(200, 0, 1)
    net.subscribe(100, 0, 1, 0)
    net.run()
    first = net.broker(3).broker.advertisements.trees[200]
    net.unadvertise(200, 0)
    net.run()
    assert all(not len(one.broker.entries) for one in net.brokers)
    net.cut(3, first.parent)
    net.advertise(200, 0, 1)
    net.run()
    second = net.broker(3).broker.advertisements.trees[200]
    assert second.generation > first.generation
    assert second.parent == 6 - first.parent
    net.publish(200, 1, 7)
    net.run()
    assert set(net.delivered) == net.oracle.owed


def test_a_publisher_that_moved_is_heard_by_everybody() -> None:
    net = BrokerNet([(1, 2), (2, 3), (3, 4), (1, 200), (1, 100), (2, 101), (4, 102)])
    net.advertise(200, 0, 1)
    for node in (100, 101, 102):
        net.subscribe(node, 0, 1, 0)
    net.run()
    net.cut(1, 200)
    net.connect(3, 200)
    net.run()
    net.publish(200, 1, 7)
    net.run()
    assert set(net.delivered) == net.oracle.owed
    assert set(net.crossings.values()) == {1}


def test_what_was_not_advertised_is_refused_at_the_edge_and_counted() -> None:
    net = BrokerNet([(1, 2), (1, 200), (2, 100)])
    net.advertise(200, 0, 1, 50)
    net.subscribe(100, 0, 1, 0)
    net.run()
    net.publisher(200).publish(LANGUAGE, bytes((1, 40)), HOUR_Q, net.now_ms)
    net.publisher(200).publish(LANGUAGE, bytes((2, 90)), HOUR_Q, net.now_ms)
    net.run()
    assert net.delivered == []
    assert refused(net, "not_advertised") == [(1, NOTIFICATION)] * 2
    net.publish(200, 1, 60)
    net.run()
    assert set(net.delivered) == net.oracle.owed


def test_notifications_never_overtake_what_is_advertised() -> None:
    net = BrokerNet([(1, 2), (1, 200), (2, 100)])
    net.subscribe(100, 0, 1, 0)
    net.run()
    net.air.loss = 1.0
    net.advertise(200, 0, 1)
    net.publisher(200).publish(LANGUAGE, bytes((1, 40)), HOUR_Q, net.now_ms)
    net.run(150)
    assert told(net, NOTIFICATION) == []
    net.air.loss = 0.0
    net.run()
    assert refused(net, "not_advertised") == []
    assert told(net, NOTIFICATION)[0] == (200, 1)


def test_an_advertisement_without_a_body_announces_everything_of_its_language() -> None:
    net = BrokerNet([(1, 2), (1, 200), (2, 100)])
    net.publisher(200).advertise(subscription(0, 0, HOUR_Q, 0, 0)[:3], LANGUAGE, 0)
    net.subscribe(100, 0, 3, 0)
    net.run()
    net.publish(200, 3, 7)
    net.run()
    assert set(net.delivered) == net.oracle.owed
    assert net.hosts[200].installed == {}


def test_prune_of_unknown_join_is_counted_and_ignored() -> None:
    net = BrokerNet([(1, 2), (1, 200), (2, 100)])
    net.advertise(200, 0, 1)
    net.subscribe(100, 0, 1, 0)
    net.run()
    liar = net.broker(2)
    stray = liar.context.make(PRUNE, 0, HOUR_Q, Prune(4_711).encode(), net.now_ms)
    liar.state.hold(stray)
    liar.context.durable.note_neighbour(stray.id, 1)
    liar.context.sessions[1].offer(0, stray.id, PRUNE)
    net.run()
    assert net.broker(1).broker.strays == 1
    assert refused(net, "superseded") == [(1, PRUNE)]
    net.publish(200, 1, 7)
    net.run()
    assert set(net.delivered) == net.oracle.owed
    late = Item(JOIN, LANGUAGE, 2, 4_711, net.now_ms, HOUR_Q, 0, Join(200, bytes((0, 0, 96, 3, 0))).encode())
    assert late.id in net.broker(1).context.durable.known


@pytest.mark.parametrize("kind", [JOIN, PRUNE])
def test_join_or_prune_for_another_node_is_refused(kind: int) -> None:
    net = BrokerNet([(1, 2), (2, 3), (1, 200)])
    net.advertise(200, 0, 1)
    net.run()
    payload = Join(200, bytes((0, 0, 96, 1, 0))).encode() if kind == JOIN else Prune(3).encode()
    foreign = Item(kind, LANGUAGE, 3, 77, net.now_ms, HOUR_Q, 0, payload)
    net.broker(2).state.hold(foreign)
    net.broker(2).context.sessions[1].offer(0, foreign.id, kind)
    net.run()
    assert refused(net, "foreign_origin") == [(1, kind)]
    assert not len(net.broker(1).broker.entries)


def test_table_sizes_are_reported_on_change() -> None:
    net = BrokerNet([(1, 2), (1, 200), (2, 100), (2, 101)])
    net.advertise(200, 0, 1)
    net.subscribe(100, 0, 1, 10)
    net.subscribe(101, 0, 1, 90)
    net.run()
    rows = [event for node, event in net.events if node == 2 and isinstance(event, RoutesChanged)]
    last = rows[-1]
    assert (last.neighbour, last.advertisements, last.subscriptions, last.covered, last.mergers) == (
        1, 1, 1, 1, 0,
    )  # fmt: skip
    assert len(rows) == len(set(rows))


def test_joins_are_renewed_before_they_expire() -> None:
    net = BrokerNet([(1, 2), (1, 200), (2, 100)], options=BrokerOptions(patience_ms=1_000))
    end = net.publisher(200)
    end.advertise(subscription(0, 0, 255, 1, 0), LANGUAGE, 0)
    net.engines[100].subscribe(subscription(0, 0, 255, 1, 0), LANGUAGE, 0)  # type: ignore[attr-defined]
    net.oracle.wants[100] = {0: (1, 0)}
    net.run()
    half_ms = 1_000 * 2**20
    for _ in range(4):
        net.now_ms += half_ms // 2
        net.run(10_000)
    assert len(joined(net, 2, 1)) >= 2
    net.publish(200, 1, 7)
    net.run()
    assert set(net.delivered) == net.oracle.owed
    assert len(net.broker(1).broker.entries) == 1


def test_expired_subscriptions_are_pruned() -> None:
    net = BrokerNet([(1, 2), (1, 200), (2, 100)], options=BrokerOptions(patience_ms=1_000))
    net.advertise(200, 0, 1)
    net.engines[100].subscribe(subscription(0, 0, 24, 1, 0), LANGUAGE, 0)  # type: ignore[attr-defined]
    net.run()
    assert len(net.broker(1).broker.entries) == 1
    net.now_ms = 20_000
    for engine in net.engines.values():
        engine.expire(net.now_ms)
    net.run()
    assert len(net.broker(1).broker.entries) == 0


def test_flooding_mediator_sends_only_notifications() -> None:
    net = BrokerNet([*RING, (1, 200), (3, 100)], options=BrokerOptions(floods=True))
    net.advertise(200, 0, 1)
    net.subscribe(100, 0, 1, 0)
    net.publish(200, 1, 7)
    net.run()
    assert set(net.delivered) == net.oracle.owed
    assert [one for kind in (ADVERTISE, JOIN, PRUNE) for one in told(net, kind) if one[0] < 100] == []


def test_no_bit_of_what_brokers_say_can_be_changed_on_the_way() -> None:
    net = BrokerNet([(1, 2), (1, 200), (2, 100)], key=b"a mission key")
    net.advertise(200, 0, 1)
    net.subscribe(100, 0, 1, 0)
    net.run()
    net.unsubscribe(100, 0)
    net.run()
    net.unadvertise(200, 0)
    net.run()
    for kind in (ADVERTISE, UNADVERTISE, JOIN, PRUNE):
        node, peer, data = net.frames[kind]
        engine = net.engines[peer]
        for bit in range(8 * len(data)):
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            assert not engine.receive(bytes(flipped), node, net.now_ms)
        told = []
        while (event := engine.next_event()) is not None:
            told.append(event)
        assert len(told) == 8 * len(data)
        assert all(isinstance(event, DatagramRefused) for event in told)
