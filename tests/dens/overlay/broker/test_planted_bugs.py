"""Plausible bugs, planted one at a time: the routing properties detect each of them."""

from collections.abc import Callable, Iterable
from random import Random

import pytest

from dens.overlay.broker.advertisements import Advertisements, Tree
from dens.overlay.broker.broker import Broker
from dens.overlay.broker.custody import Custody
from dens.overlay.broker.distances import Distances
from dens.overlay.broker.options import BrokerOptions
from dens.overlay.broker.outbox import Outbox
from dens.overlay.broker.requests import Requests, Target, Wanted
from dens.overlay.storage.durable_state import DurableState
from dens.overlay.wire.codes import NOTIFICATION, Status
from dens.overlay.wire.item import Item, ItemId
from tests.dens.overlay.broker import test_faults
from tests.dens.overlay.broker.net import Air, BrokerNet
from tests.dens.overlay.broker.test_routing_laws import attached, check_history, random_graph

Patch = pytest.MonkeyPatch
PATIENCE_MS = 300_000
EVER = BrokerOptions(patience_ms=PATIENCE_MS)


def check_histories() -> None:
    """Live through networks as the laws do."""
    for seed in range(12):
        chance = Random(seed)
        links = random_graph(chance, 5) + attached(chance, 5, 3)
        net = check_history(BrokerNet(links), seed, 3, 40)
        assert all(count == 1 for count in net.crossings.values())


def check_late_frames() -> None:
    """Take subscriptions back while frames are lost, and publish before the network has come to rest. What
    has no receiver at all waits for one, so another subscriber is served all the time.
    """
    for seed in range(20):
        net = BrokerNet(
            [(1, 2), (2, 3), (1, 200), (2, 102), (3, 100), (3, 101)],
            options=EVER,
            air=Air(loss=0.3, late_ms=(1, 100), seed=seed),
        )
        net.advertise(200, 0, 1)
        net.subscribe(100, 0, 1, 10)
        net.subscribe(101, 0, 1, 90)
        net.subscribe(102, 0, 1, 0)
        net.run(PATIENCE_MS)
        net.unsubscribe(100, 0)
        for _ in range(30):
            net.publish(200, 1, 200)
            net.run(60)
        net.run(60_000)
        assert set(net.delivered) == net.oracle.owed


def check_crashes() -> None:
    """Let each of three brokers crash at every moment of a notification's way while the next receiver does
    not hear it, and subscribe later.
    """
    for broker, receiver in ((1, 2), (2, 3), (3, 100)):
        for at_ms in range(0, 30, 3):
            net = BrokerNet([(1, 2), (2, 3), (1, 200), (3, 100)], options=EVER)
            net.advertise(200, 0, 1)
            net.subscribe(100, 0, 1, 10)
            net.run(PATIENCE_MS)
            net.silent = {(broker, receiver)}
            net.publish(200, 1, 150)
            net.run(at_ms)
            net.crash(broker)
            net.silent = set()
            net.run(30_000)
            assert set(net.delivered) == net.oracle.owed
            net.subscribe(100, 1, 1, 0)
            net.run()
            net.publish(200, 1, 5)
            net.run()
            assert set(net.delivered) == net.oracle.owed


def check_races() -> None:
    """Take an advertisement back and make it again while one broker hears the second news before the first:
    every broker still has a way to the publisher.
    """
    net = BrokerNet([(1, 2), (2, 3), (3, 5), (2, 5), (1, 4), (3, 4), (1, 200), (3, 100)], options=EVER)
    net.subscribe(100, 0, 1, 0)
    net.silent = {(4, 3), (3, 4)}
    net.advertise(200, 0, 1)
    net.run(100)
    net.silent = {(4, 3), (2, 3), (5, 3)}
    net.unadvertise(200, 0)
    net.run(50)
    net.silent = {(1, 2), (2, 3), (5, 3)}
    net.advertise(200, 0, 1)
    net.run(50)
    net.silent = set()
    net.run(30_000)
    for one in net.brokers:
        node, way = one.node, {200}
        while node not in way:
            way.add(node)
            node = net.broker(node).broker.advertisements.trees[200].parent
        assert node == 200
    net.publish(200, 1, 100)
    net.run()
    assert set(net.delivered) == net.oracle.owed


def breaks_before_it_makes(patch: Patch) -> None:
    send = Outbox.send
    patch.setattr(Outbox, "send", lambda self, makes, breaks: send(self, breaks, makes))


def forgets_before_the_acknowledgement(patch: Patch) -> None:
    begin = Custody.begin

    def begin_without(
        self: Custody, item_id: ItemId, receivers: Iterable[int], giver: int, is_open: bool, now_ms: int
    ) -> None:
        begin(self, item_id, (), giver, is_open, now_ms)
        self._held[item_id].lacking |= set(receivers)

    def let_go(self: Broker, items: list[Item], giver: object, now_ms: int) -> None:
        on_stored(self, items, giver, now_ms)  # type: ignore[arg-type]
        for item in items:
            if item.type == NOTIFICATION:
                self._durable.forget(item.id)

    on_stored = Broker.on_stored
    patch.setattr(Custody, "begin", begin_without)
    patch.setattr(Broker, "on_stored", let_go)


def forgets_the_parent(patch: Patch) -> None:
    patch.setattr(DurableState, "note_neighbour", lambda self, item_id, node: None)


def covers_for_other_trees(patch: Patch) -> None:
    """A request to a neighbour for one tree is taken as a request for all trees."""
    put_in = Requests._put_in

    def put_in_once(self: Requests, target: Target, wanted: Wanted, now_ms: int) -> None:
        if not any(wanted.key in table.placed for other, table in self._tables.items() if other != target):
            put_in(self, target, wanted, now_ms)

    patch.setattr(Requests, "_put_in", put_in_once)


def trees_of_nothing_are_forgotten(patch: Patch) -> None:
    """The first bringer is the parent whenever something is advertised after nothing was: no generations."""
    withdraw = Advertisements.withdraw

    def forgets(self: Advertisements, item: Item, giver: int, now_ms: int) -> Status:
        status = withdraw(self, item, giver, now_ms)
        if not self.trees[item.origin].held:
            self.trees[item.origin] = Tree(-1, giver, item.hops)
        return status

    def of_generation(self: Advertisements, item: Item, generation: int, giver: int, now_ms: int) -> Tree:
        tree = self.trees.get(item.origin)
        if tree is None or tree.generation == -1:
            tree = self.trees[item.origin] = Tree(0, giver, item.hops)
        return tree

    patch.setattr(Distances, "note", lambda *arguments: b"")
    patch.setattr(Advertisements, "withdraw", forgets)
    patch.setattr(Advertisements, "_tree_of", of_generation)


def tells_nothing_when_a_tree_comes(patch: Patch) -> None:
    patch.setattr(Requests, "review", lambda self, publisher, now_ms: None)


def keeps_a_parent_below(patch: Patch) -> None:
    patch.setattr(Broker, "_move_nearer", lambda self, publisher, now_ms: None)


def expects_no_further_receivers(patch: Patch) -> None:
    begin = Custody.begin

    def begin_closed(
        self: Custody, item_id: ItemId, receivers: Iterable[int], giver: int, is_open: bool, now_ms: int
    ) -> None:
        begin(self, item_id, receivers, giver, False, now_ms)

    patch.setattr(Custody, "begin", begin_closed)


def lost_stores() -> None:
    """Let a broker in the middle lose its store."""
    test_faults.test_what_neighbours_hold_for_a_broker_survives_the_loss_of_its_store(3, False)


BUGS: list[tuple[Callable[[Patch], None], Callable[[], None]]] = [
    (breaks_before_it_makes, check_late_frames),
    (forgets_before_the_acknowledgement, check_crashes),
    (forgets_the_parent, check_crashes),
    (covers_for_other_trees, check_histories),
    (trees_of_nothing_are_forgotten, check_races),
    (tells_nothing_when_a_tree_comes, check_histories),
    (keeps_a_parent_below, test_faults.test_a_lost_store_makes_no_lasting_loop),
    (expects_no_further_receivers, lost_stores),
]


@pytest.mark.parametrize(("plant", "law"), BUGS, ids=[plant.__name__ for plant, _ in BUGS])
def test_a_planted_bug_is_noticed(
    plant: Callable[[Patch], None], law: Callable[[], None], monkeypatch: Patch
) -> None:
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        law()


@pytest.mark.parametrize(
    "law", [check_histories, check_late_frames, check_crashes, check_races], ids=lambda law: law.__name__
)
def test_without_a_bug_nothing_is_noticed(law: Callable[[], None]) -> None:
    law()
