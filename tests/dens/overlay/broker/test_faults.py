"""Brokers that crash and links that break: nothing acknowledged is lost, and abandoned ones are reported."""

from random import Random

import pytest

from dens.overlay.broker.options import BrokerOptions
from dens.overlay.events import CopyDropped, MessageAcknowledged
from dens.overlay.wire.codes import JOIN, NOTIFICATION, PRUNE
from dens.overlay.wire.item import ItemId
from tests.dens.overlay.broker.net import Air, BrokerNet
from tests.dens.overlay.broker.test_routing_laws import attached, random_graph
from tests.dens.overlay.broker.topic_routing import TABLES

LINE = [(1, 2), (2, 3), (3, 4), (1, 200), (4, 100)]
"""A publisher at one end of four brokers, a subscriber at the other."""
PATIENCE_MS = 300_000
EVER = BrokerOptions(patience_ms=PATIENCE_MS)
"""Longer than anything here takes."""


def line(options: BrokerOptions = EVER, **more: object) -> BrokerNet:
    net = BrokerNet(LINE, options=options, **more)  # type: ignore[arg-type]
    net.advertise(200, 0, 1)
    net.subscribe(100, 0, 1, 100)
    net.run()
    return net


def dropped(net: BrokerNet, reason: str) -> list[tuple[int, int | None, ItemId]]:
    """Return where notifications were given up for this reason, for whom, and which."""
    return [
        (node, event.peer, event.item.id)
        for node, event in net.events
        if isinstance(event, CopyDropped) and event.item.type == NOTIFICATION and event.reason == reason
    ]


def joins(net: BrokerNet) -> dict[int, int]:
    """Return how many JOINs of neighbours every broker holds."""
    return {one.node: len(one.broker.entries) for one in net.brokers}


@pytest.mark.parametrize("broker", [1, 2, 3, 4])
@pytest.mark.parametrize("floods", [False, True])
def test_a_broker_that_crashes_at_any_moment_loses_nothing_that_it_acknowledged(
    broker: int, floods: bool
) -> None:
    """Of one notification every moment of its way is tried."""
    for at_ms in range(0, 60, 3):
        net = line(BrokerOptions(floods=floods, patience_ms=PATIENCE_MS))
        net.publish(200, 1, 150)
        net.run(at_ms)
        net.crash(broker)
        net.run(30_000)
        assert set(net.delivered) == net.oracle.owed, at_ms
        assert len(net.delivered) == 1
        net.run(PATIENCE_MS)
        assert all(not len(one.state.carried) for one in net.brokers)


@pytest.mark.parametrize("seed", range(8))
def test_crashes_cuts_and_losses_at_random_lose_nothing(seed: int) -> None:
    chance = Random(seed)
    brokers, ends = 5, 3
    graph = random_graph(chance, brokers)
    net = BrokerNet(
        graph + attached(chance, brokers, ends),
        options=EVER,
        table=TABLES[sorted(TABLES)[seed % 3]],
        air=Air(loss=0.1, late_ms=(1, 40), seed=seed),
    )
    for node in range(200, 200 + ends):
        net.advertise(node, 0, 1)
    net.run(20_000)
    for node in range(100, 100 + ends):
        net.subscribe(node, 0, 1, chance.randint(0, 200))
        net.subscribe(node, 1, 1, chance.randint(0, 200))
    net.run(20_000)
    for _ in range(25):
        what = chance.randrange(4)
        if what == 0:
            net.crash(chance.randint(1, brokers))
        elif what == 1:
            a, b = chance.choice(graph)
            if (a, b) in net.links:
                net.cut(a, b)
            else:
                net.connect(a, b)
        else:
            net.publish(200 + chance.randrange(ends), 1, chance.randint(0, 255))
        net.run(chance.randint(1, 400))
    for a, b in graph:
        if (a, b) not in net.links:
            net.connect(a, b)
    net.run(120_000)
    assert set(net.delivered) == net.oracle.owed
    assert len(net.delivered) == len(set(net.delivered))
    net.run(PATIENCE_MS)
    assert all(not len(one.state.carried) for one in net.brokers)


def test_tables_survive_a_restart_without_a_word() -> None:
    net = line()
    before = joins(net), len([one for one in net.words if one[2].type in (JOIN, PRUNE)])
    net.crash(2)
    net.run()
    assert (joins(net), len([one for one in net.words if one[2].type in (JOIN, PRUNE)])) == before
    assert joins(net) == {1: 1, 2: 1, 3: 1, 4: 0}


def test_broker_that_lost_its_store_recovers_joins_in_both_directions() -> None:
    net = line()
    net.crash(3, has_store=False)
    net.run(5_000)
    net.publish(200, 1, 150)
    net.run()
    assert set(net.delivered) == net.oracle.owed
    assert joins(net) == {1: 1, 2: 1, 3: 1, 4: 0}


def test_what_a_lost_link_lacks_is_offered_when_it_returns() -> None:
    net = line()
    net.cut(2, 3)
    net.subscribe(100, 0, 1, 50)
    first = net.publish(200, 1, 150)
    net.run()
    assert net.delivered == []
    net.connect(2, 3)
    net.run()
    second = net.publish(200, 1, 60)
    net.run()
    assert net.delivered == [(100, first), (100, second)]
    assert joins(net) == {1: 1, 2: 1, 3: 1, 4: 0}


def test_whoever_does_not_come_back_in_time_is_given_up_with_a_reason() -> None:
    net = line(BrokerOptions(patience_ms=5_000))
    net.cut(2, 3)
    lost = net.publish(200, 1, 150)
    net.run(20_000)
    assert dropped(net, "patience_over") == [(2, 3, lost), (2, None, lost)]
    net.connect(2, 3)
    found = net.publish(200, 1, 151)
    net.run(20_000)
    assert net.delivered == [(100, found)]
    assert dropped(net, "patience_over") == [(2, 3, lost), (2, None, lost)]


def test_an_end_that_does_not_come_back_in_time_is_given_up_too() -> None:
    net = line(BrokerOptions(patience_ms=5_000))
    net.cut(4, 100)
    lost = net.publish(200, 1, 150)
    net.run(20_000)
    assert dropped(net, "patience_over") == [(4, 100, lost), (4, None, lost)]


def test_slow_link_does_not_count_as_lost() -> None:
    net = line(BrokerOptions(patience_ms=50), air=Air(loss=0.6, late_ms=(1, 100), seed=3))
    net.run(60_000)
    for value in range(150, 160):
        net.publish(200, 1, value)
    net.run(120_000)
    assert set(net.delivered) == net.oracle.owed
    assert dropped(net, "patience_over") == []


def test_a_copy_is_held_until_the_next_has_acknowledged_it() -> None:
    net = line()
    net.run(PATIENCE_MS)
    seen = net.publish(200, 1, 150)
    net.run()
    for broker, follower in ((1, 2), (2, 3), (3, 4), (4, 100)):
        steps = [
            type(event)
            for node, event in net.events
            if node == broker
            and (
                (isinstance(event, MessageAcknowledged) and event.peer == follower)
                or isinstance(event, CopyDropped)
            )
            and event.item.id == seen
        ]
        assert steps == [MessageAcknowledged, CopyDropped]


def test_what_has_no_receiver_waits_for_one_and_is_never_called_delivered() -> None:
    net = BrokerNet([(1, 2), (1, 200), (2, 100)], options=BrokerOptions(patience_ms=20_000))
    net.advertise(200, 0, 1)
    net.run(30_000)
    lost = net.publish(200, 1, 150)
    net.run(19_000)
    assert net.broker(1).state.carried.get(lost) is not None
    net.run(2_000)
    assert dropped(net, "patience_over") == [(1, None, lost)]
    assert dropped(net, "delivered") == []


def test_a_join_that_comes_later_gets_what_waits() -> None:
    """Its end decides by the time of the subscription, so a new subscription gets nothing from before."""
    net = BrokerNet([(1, 2), (1, 200), (2, 100)], options=EVER)
    net.advertise(200, 0, 1)
    net.run(PATIENCE_MS)
    before = net.publish(200, 1, 150)
    net.run()
    net.subscribe(100, 0, 1, 100)
    net.run()
    assert before in net.broker(2).context.durable.known
    after = net.publish(200, 1, 150)
    net.run()
    assert net.delivered == [(100, after)]


@pytest.mark.parametrize("floods", [False, True])
@pytest.mark.parametrize("lost", [2, 3])
def test_what_neighbours_hold_for_a_broker_survives_the_loss_of_its_store(lost: int, floods: bool) -> None:
    """Two subscribers: the first request that is repeated is not all of them."""
    net = BrokerNet([*LINE, (3, 5), (5, 101)], options=BrokerOptions(floods=floods, patience_ms=PATIENCE_MS))
    net.advertise(200, 0, 1)
    net.subscribe(100, 0, 1, 100)
    net.subscribe(101, 0, 1, 120)
    net.run(PATIENCE_MS)
    net.cut(1, 2) if lost == 2 else net.cut(2, 3)
    for value in range(150, 160):
        net.publish(200, 1, value)
        net.run(100)
    net.crash(lost, has_store=False)
    net.connect(1, 2) if lost == 2 else net.connect(2, 3)
    for value in range(160, 170):
        net.publish(200, 1, value)
        net.run(7)
    net.run(5_000)
    assert set(net.delivered) == net.oracle.owed
    assert len(net.delivered) == 40


def test_joins_that_are_not_repeated_are_forgotten_after_the_patience() -> None:
    net = line(BrokerOptions(patience_ms=20_000))
    net.cut(3, 4)
    net.crash(3, has_store=False)
    net.run(5_000)
    assert joins(net) == {1: 1, 2: 1, 3: 0, 4: 0}
    net.run(40_000)
    assert joins(net) == {1: 0, 2: 0, 3: 0, 4: 0}


def test_a_flooding_broker_remembers_its_neighbours() -> None:
    net = BrokerNet([(1, 2), (1, 200), (2, 100)], options=BrokerOptions(floods=True, patience_ms=20_000))
    net.advertise(200, 0, 1)
    net.subscribe(100, 0, 1, 0)
    net.run()
    net.cut(1, 2)
    net.crash(1)
    net.run(25_000)
    net.publish(200, 1, 150)
    net.run(5_000)
    net.connect(1, 2)
    net.run()
    assert set(net.delivered) == net.oracle.owed
    assert len(net.delivered) == 1


def looped() -> BrokerNet:
    """Return a network in which a broker without a store heard of a publisher from below first."""
    net = line()
    net.run(PATIENCE_MS)
    net.cut(1, 2)
    net.crash(2, has_store=False)
    net.connect(2, 4)
    net.run(5_000)
    assert net.broker(2).broker.advertisements.trees[200].parent == 4
    net.connect(1, 2)
    net.run(5_000)
    return net


def test_a_lost_store_makes_no_lasting_loop() -> None:
    net = looped()
    for broker in (2, 3, 4):
        node, way = broker, [200]
        while node not in way:
            way.append(node)
            node = net.broker(node).broker.advertisements.trees[200].parent
        assert node == 200, way
    for value in range(150, 160):
        net.publish(200, 1, value)
        net.run(100)
    net.run(5_000)
    assert set(net.delivered) == net.oracle.owed
    assert len(net.delivered) == 10


def test_a_nearer_parent_survives_a_restart_and_the_former_one_is_left() -> None:
    net = looped()
    net.crash(2)
    net.run(60_000)
    tree = net.broker(2).broker.advertisements.trees[200]
    assert (tree.parent, tree.hops) == (1, 2)
    assert {entry.held.item.origin for entry in net.broker(4).broker.entries.all()} == set()
