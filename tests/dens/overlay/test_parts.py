"""Subscriptions that sources do not know are split for them; nothing is lost, left over or sent twice.

The language is `EITHER` of the fault-injection worlds: two pairs of topic and least value, about
notifications of `LANGUAGE`, into whose subscriptions it is taken apart.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.overlay.covering.decomposition import PARTS_MAX
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.errors import LocalProtocolError, RemoteProtocolError
from dens.overlay.events import MessageQuarantined, NotificationDelivered
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.storage.durable_state import init_counters
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import INSTALL, LINK_NUMBER, REMOVE
from dens.overlay.wire.envelope import unpack
from dens.overlay.wire.item import NUMBER_MASK, Item, ItemId
from dens.overlay.wire.messages import Withdrawal
from emulation.fault_injection.topics import (
    EITHER,
    EITHER_TOPICS,
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    TopicPart,
    matches,
    subscription,
)
from tests.sizes import examples

ASKER, MEDIATORS, SOURCES = 1, (2, 3), (4, 5, 6)
HOUR_Q = 95
KINDS: dict[int, Callable[[], TopicHost]] = {
    4: TopicHost,
    5: lambda: TopicHost((LANGUAGE, EITHER), 2),
    6: lambda: TopicHost((LANGUAGE, EITHER)),
}
"""One source that does not know the language, one without room for it, one that takes it whole."""
QUICK = Limits(
    hello_ms=300, retry_ms=150, retry_most_ms=600, number_step=4, linger_ms=5_000, remember_ms=5_000
)


class Net:
    """A subscriber, two mediators and three sources; everybody can crash, and links lose."""

    def __init__(self, chance: Random | None = None, limits: Limits = QUICK) -> None:
        self.now_ms = 0
        self.limits = limits
        self.chance = chance or Random(1)
        self.loss = 0.0
        self.stores = {node: MemoryStore() for node in (ASKER, *MEDIATORS, *SOURCES)}
        self.hosts: dict[int, TopicHost] = {}
        self.engines: dict[int, Engine] = {}
        self.links: set[tuple[int, int]] = set()
        self.seen: list[NotificationDelivered] = []
        self.sent: list[tuple[int, int, Item]] = []
        self.quarantined: list[MessageQuarantined] = []
        for node in self.stores:
            self.start(node)

    @property
    def asker(self) -> SubscriberEndpoint:
        engine = self.engines[ASKER]
        assert isinstance(engine, SubscriberEndpoint)
        return engine

    def mediator(self, node: int) -> DensNode:
        engine = self.engines[node]
        assert isinstance(engine, DensNode)
        return engine

    def source(self, node: int) -> PublisherEndpoint:
        engine = self.engines[node]
        assert isinstance(engine, PublisherEndpoint)
        return engine

    def start(self, node: int) -> None:
        store, now_ms, limits = self.stores[node], self.now_ms, self.limits
        if node == ASKER:
            self.engines[node] = SubscriberEndpoint(node, Mission(7, limits=limits), store, now_ms)
        elif node in MEDIATORS:
            self.engines[node] = DensNode(
                node,
                Mission(7, {LANGUAGE: TOPICS, EITHER: EITHER_TOPICS}, limits=limits),
                store,
                now_ms,
                directory=TopicDirectory(),
            )
        else:
            self.hosts[node] = KINDS[node]()
            end = PublisherEndpoint(
                node, Mission(7, limits=limits), store, now_ms, filter_host=self.hosts[node]
            )
            end.announce(b"\x01\x02", now_ms)
            self.engines[node] = end

    def crash(self, node: int) -> None:
        self.stores[node] = self.stores[node].crash()
        self.start(node)
        for a, b in self.links:
            if node in (a, b):
                self.engines[node].contact_opened(a + b - node, self.now_ms)

    def meet(self, pairs: Iterable[tuple[int, int]]) -> None:
        for a, b in pairs:
            self.links.add((a, b))
            self.engines[a].contact_opened(b, self.now_ms)
            self.engines[b].contact_opened(a, self.now_ms)

    def meet_all(self) -> None:
        self.meet([(2, 3)] + [(mediator, end) for mediator in MEDIATORS for end in (ASKER, *SOURCES)])

    def part_all(self) -> None:
        for a, b in self.links:
            self.engines[a].contact_lost(b, self.now_ms)
            self.engines[b].contact_lost(a, self.now_ms)
        self.links.clear()

    def run(self, for_ms: int = 3_000) -> None:
        end_ms = self.now_ms + for_ms
        while self.now_ms < end_ms:
            self.now_ms += 25
            for node, engine in self.engines.items():
                engine.timer_due(self.now_ms)
                for datagram in engine.datagrams_to_send(self.now_ms):
                    peer, data = datagram.peer, datagram.data
                    self.sent.append((node, peer, unpack(data, self.now_ms)[0]))
                    if self.chance.random() >= self.loss:
                        self.engines[peer].receive(data, node, self.now_ms)
                while (event := engine.next_event()) is not None:
                    if isinstance(event, NotificationDelivered):
                        self.seen.append(event)
                    elif isinstance(event, MessageQuarantined):
                        self.quarantined.append(event)

    def installs_of(self, language: int, to: int) -> int:
        return sum(
            item.type == INSTALL and item.language == language and peer == to for _, peer, item in self.sent
        )

    def installed(self, node: int) -> dict[int, tuple[int, bytes]]:
        """Return id → revision and body of what a source filters for."""
        return {
            id: (seq, body)
            for (_, id), (seq, body, until_ms) in self.hosts[node].installed.items()
            if until_ms > self.now_ms
        }


def test_source_takes_whole_or_parts_and_the_whole_is_delivered_once() -> None:
    net = Net()
    net.meet_all()
    net.asker.subscribe(subscription(10, 3, HOUR_Q, 1, 50, 2, 90), EITHER, 0, occupies=2)
    net.run()
    parts = {11: (3, bytes((1, 50))), 12: (3, bytes((2, 90)))}
    assert [net.installed(node) for node in SOURCES] == [parts, parts, {10: (3, bytes((1, 50, 2, 90)))}]
    for vector in (bytes((1, 50)), bytes((2, 89)), bytes((2, 200))):
        net.source(4).publish(LANGUAGE, vector, HOUR_Q, net.now_ms)
    net.run()
    told = [(event.item.payload, tuple((one.id, one.seq) for one in event.satisfied)) for event in net.seen]
    assert told == [(bytes((1, 50)), ((10, 3),)), (bytes((2, 200)), ((10, 3),))], (
        "pending for the whole alone"
    )
    assert all(net.mediator(node).subscription_count == 1 for node in MEDIATORS)


def test_a_language_that_a_source_does_not_know_is_offered_again_only_after_an_announcement() -> None:
    net = Net()
    net.meet([(2, 1), (2, 4)])
    for id in (0, 10, 20):
        net.asker.subscribe(subscription(id, 0, HOUR_Q, 1, id, 2, 90), EITHER, net.now_ms, occupies=2)
        net.run()
    assert net.installs_of(EITHER, 4) == 1
    assert set(net.installed(4)) == {1, 2, 11, 12, 21, 22}
    net.part_all()
    net.meet([(2, 1), (2, 4)])
    net.run()
    assert net.installs_of(EITHER, 4) == 1, "nor in a later contact"
    net.source(4).announce(b"\x01\x02\x03", net.now_ms)
    net.run()
    net.asker.subscribe(subscription(30, 0, HOUR_Q, 1, 9, 2, 90), EITHER, net.now_ms, occupies=2)
    net.run()
    assert net.installs_of(EITHER, 4) == 2
    assert {31, 32} <= set(net.installed(4))


def test_a_language_without_parts_is_not_offered_again_either() -> None:
    net = Net()
    net.hosts[4] = TopicHost(languages=())
    net.engines[4] = PublisherEndpoint(
        4, Mission(7, limits=QUICK), MemoryStore(), 0, filter_host=net.hosts[4]
    )
    net.source(4).announce(b"\x01", 0)
    for _ in range(3):
        net.meet([(2, 1), (2, 4)])
        if not net.asker.in_force:
            net.asker.subscribe(subscription(0, 0, HOUR_Q, 1, 0), LANGUAGE, net.now_ms)
        net.run()
        net.part_all()
    assert net.installs_of(LANGUAGE, 4) == 1


def test_a_renewal_and_a_withdrawal_reach_the_parts() -> None:
    net = Net()
    net.meet_all()
    net.asker.subscribe(subscription(10, 3, 24, 1, 50, 2, 90), EITHER, 0, occupies=2)  # eight seconds
    net.run(4_000)
    net.crash(ASKER)
    net.asker.renew(10, HOUR_Q, net.now_ms)
    net.run(8_000)
    assert set(net.installed(4)) == set(net.installed(5)) == {11, 12}
    assert set(net.installed(6)) == {10}
    for node in MEDIATORS:
        net.crash(node)
    net.crash(ASKER)
    net.asker.unsubscribe(10, net.now_ms)
    net.run()
    assert [net.installed(node) for node in SOURCES] == [{}, {}, {}]
    removed = {item.payload for _, peer, item in net.sent if item.type == REMOVE and peer == 4}
    assert removed == {bytes((10, 3)), bytes((11, 3)), bytes((12, 3))}, "as boards read it: two bytes each"


def test_a_revision_with_fewer_parts_leaves_none_behind() -> None:
    net = Net()
    net.meet_all()
    net.asker.subscribe(subscription(10, 3, HOUR_Q, 1, 50, 2, 90), EITHER, 0, occupies=2)
    net.run()
    net.asker.subscribe(subscription(10, 4, HOUR_Q, 1, 70), LANGUAGE, net.now_ms)
    net.run()
    assert [net.installed(node) for node in SOURCES] == [{10: (4, bytes((1, 70)))}] * 3


def test_ids_that_are_occupied_are_refused_and_free_again_under_a_newer_revision() -> None:
    net = Net()
    net.asker.subscribe(subscription(10, 3, HOUR_Q, 1, 50, 2, 90), EITHER, 0, occupies=2)
    for id in (11, 12):
        with pytest.raises(LocalProtocolError, match="subscription 10 occupies the ids 10 to 12"):
            net.asker.subscribe(subscription(id, 9, HOUR_Q, 1, 0), LANGUAGE, 0)
    with pytest.raises(LocalProtocolError, match="use other ids than 9 to 10"):
        net.asker.subscribe(subscription(9, 9, HOUR_Q, 1, 0), LANGUAGE, 0, occupies=1)
    with pytest.raises(LocalProtocolError, match="ids end at 255"):
        net.asker.subscribe(subscription(254, 9, HOUR_Q, 1, 0), LANGUAGE, 0, occupies=2)
    with pytest.raises(LocalProtocolError, match="ids end at 255"):
        net.asker.subscribe(subscription(20, 9, HOUR_Q, 1, 0), LANGUAGE, 0, occupies=-1)
    net.run(50)
    net.crash(ASKER)
    with pytest.raises(LocalProtocolError, match="subscription 10 occupies"):
        net.asker.subscribe(subscription(12, 9, HOUR_Q, 1, 0), LANGUAGE, 0)
    net.asker.unsubscribe(10, net.now_ms)
    assert (net.asker.next_seq(11), net.asker.next_seq(13), net.asker.next_seq(9, occupies=3)) == (4, 0, 4)
    with pytest.raises(LocalProtocolError, match="revision 3 of subscription 11 is not newer than 3"):
        net.asker.subscribe(subscription(11, 3, HOUR_Q, 1, 0), LANGUAGE, net.now_ms)
    net.asker.subscribe(subscription(11, 4, HOUR_Q, 1, 0), LANGUAGE, net.now_ms)
    for id, seq in ((40, 0), (41, 128)):
        net.asker.subscribe(subscription(id, seq, HOUR_Q, 1, 0), LANGUAGE, net.now_ms)
    with pytest.raises(LocalProtocolError, match="no revision is newer than all"):
        net.asker.next_seq(40, occupies=1)


def test_message_numbers_are_reserved_for_every_form() -> None:
    net = Net()
    made = [net.asker.subscribe(subscription(10, 3, HOUR_Q, 1, 50, 2, 90), EITHER, 0, occupies=2)]
    made.append(net.asker.renew(10, HOUR_Q, 0))
    net.run(50)
    net.crash(ASKER)
    made.append(net.asker.renew(10, HOUR_Q, net.now_ms))
    made.append(net.asker.unsubscribe(10, net.now_ms))
    made.append(net.asker.subscribe(subscription(20, 0, HOUR_Q, 1, 0), LANGUAGE, net.now_ms))
    numbers = [one & NUMBER_MASK for one in made]
    assert all(after - before >= 3 for before, after in pairwise(numbers)), numbers


def test_where_a_subscription_lapses_nothing_is_left() -> None:
    net = Net()
    net.meet_all()
    for id in (0, 3, 6):
        net.asker.subscribe(subscription(id, 0, 24, 1, 0, 2, 0), EITHER, 0, occupies=2)
    net.run(2_000)
    net.asker.unsubscribe(3, net.now_ms)
    net.run(2_000)
    assert len(net.mediator(2).state.parts) == 6
    net.run(60_000)
    for node in MEDIATORS:
        book = net.mediator(node).state.parts
        assert (len(book), book._owners, book._no_room) == (0, {}, {})
        assert net.mediator(node).subscription_count == 0
    assert [net.installed(node) for node in SOURCES] == [{}, {}, {}]
    assert (net.asker.state.used, net.asker.state.reach, net.asker.context.durable._occupied) == ({}, {}, {})


def test_what_a_subscriber_cannot_have_reserved_is_not_offered() -> None:
    net = Net()
    net.meet([(2, 1), (2, 4)])
    net.asker.subscribe(subscription(254, 0, HOUR_Q, 1, 0, 2, 0), EITHER, 0, occupies=1)
    net.run()
    assert net.installed(4) == {}


def test_too_many_parts_are_a_defect_of_the_language_and_its_whole_is_matched_all_the_same() -> None:
    net = Net()
    many = lambda body: [TopicPart(LANGUAGE, body[:2])] * (PARTS_MAX + 1)  # noqa: E731
    net.engines[2] = DensNode(
        2,
        Mission(7, {LANGUAGE: TOPICS, EITHER: replace(EITHER_TOPICS, decompose=many)}, limits=QUICK),
        MemoryStore(),
        0,
        directory=TopicDirectory(),
    )
    net.meet([(2, 1), (2, 4)])
    net.asker.subscribe(subscription(0, 0, HOUR_Q, 1, 0, 2, 0), EITHER, 0, occupies=2)
    net.run()
    [said] = net.quarantined
    assert (said.reason or "").startswith("forming: ValueError")
    net.source(4).publish(LANGUAGE, b"\x01\x01", HOUR_Q, net.now_ms)
    net.run()
    assert [event.item.payload for event in net.seen] == [b"\x01\x01"]


@pytest.mark.parametrize("payload", [b"\x01", b"\x01\x02\x00", b"\x01\x02\x03\x04", b"\xfe\x00\x02"])
def test_a_withdrawal_is_two_bytes_or_says_which_ids_it_occupied(payload: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        Withdrawal.decode(payload)


@given(id=st.integers(0, 255), seq=st.integers(0, 255), occupied=st.integers(0, 255))
def test_withdrawal_round_trip(id: int, seq: int, occupied: int) -> None:
    said = Withdrawal(id, seq, min(occupied, 255 - id))
    assert Withdrawal.decode(said.encode()) == said


STEP = st.sampled_from(("either", "plain", "renew", "unsubscribe", "crash", "part", "meet", "publish"))


@settings(max_examples=examples(40), deadline=None)
@given(
    steps=st.lists(STEP, min_size=3, max_size=14),
    seed=st.integers(0, 2**32),
    loss=st.sampled_from((0.0, 0.3)),
)
def test_sources_filter_for_active_subscriptions_and_every_delivery_arrives_once(
    steps: list[str], seed: int, loss: float
) -> None:
    chance = Random(seed)
    net = Net(chance)
    net.loss = loss
    net.meet_all()
    asked: dict[int, tuple[int, int, bytes]] = {}  # id → revision, number, vector
    owed: set[ItemId] = set()
    for step in steps:
        id = chance.choice((0, 3, 6))
        if step in ("either", "plain"):
            is_either = step == "either"
            pairs = [
                value
                for _ in range(1 + is_either)
                for value in (chance.choice((1, 2)), chance.randrange(250))
            ]
            vector = subscription(id, net.asker.next_seq(id, 2), HOUR_Q, *pairs)
            language = EITHER if is_either else LANGUAGE
            made = net.asker.subscribe(vector, language, net.now_ms, occupies=2 * is_either)
            asked[id] = (vector[1], made & NUMBER_MASK, vector)
        elif step == "renew" and id in asked:
            net.asker.renew(id, HOUR_Q, net.now_ms)
        elif step == "unsubscribe" and id in asked:
            net.asker.unsubscribe(id, net.now_ms)
            del asked[id]
        elif step == "crash":
            net.run(25)  # a subscription is durable once its acknowledgement was reported
            net.crash(chance.choice((ASKER, *MEDIATORS, *SOURCES)))
        elif step == "part":
            net.part_all()
        elif step == "meet":
            net.meet_all()
        elif step == "publish":
            vector = bytes((chance.choice((1, 2)), chance.randrange(256)))
            made = net.source(chance.choice(SOURCES)).publish(LANGUAGE, vector, HOUR_Q, net.now_ms)
            if any(matches(held, vector) for _, _, held in asked.values()):
                owed.add(made)
        net.run(chance.choice((25, 600)))
    net.part_all()
    net.meet_all()
    net.loss = 0.0
    net.run(6_000)
    for node in SOURCES:
        expected: dict[int, tuple[int, bytes]] = {}
        for id, (seq, _, vector) in asked.items():
            body = vector[3:]
            if len(body) == 2 or node == 6:
                expected[id] = (seq, body)
            else:
                expected |= {id + 1: (seq, body[:2]), id + 2: (seq, body[2:])}
        assert net.installed(node) == expected, node
    seen = [event.item.id for event in net.seen]
    assert len(seen) == len(set(seen)), "nothing twice"
    still = {made for made in owed if made in seen}
    lost = owed - still
    assert all(_was_withdrawn(net, made, asked) for made in lost), lost
    assert {one.id for event in net.seen for one in event.satisfied} <= {0, 3, 6}, "parts have no subscriber"


def _was_withdrawn(net: Net, made: ItemId, asked: dict[int, tuple[int, int, bytes]]) -> bool:
    """Return whether a delivery expected at publication matches no current revision of its subscription."""
    item = net.mediator(2).state.items.get(made)
    assert item is not None
    now_owed = [one for one in net.asker.in_force if one.since_ms <= item.created_ms]
    return not any(matches(one.vector, item.payload) for one in now_owed)


def test_a_source_that_crashed_says_which_form_it_has() -> None:
    net = Net()
    net.meet([(2, 1), (2, 4)])
    net.asker.subscribe(subscription(10, 3, HOUR_Q, 1, 50, 2, 90), EITHER, 0, occupies=2)
    net.run()
    net.part_all()
    net.crash(4)
    net.meet([(3, 1), (3, 4)])  # a mediator that does not know which languages this source lacks
    net.run()
    assert net.installs_of(EITHER, 4) == 1, "its summary names the parts"
    assert set(net.installed(4)) == {11, 12}


def test_numbers_that_end_are_not_given_to_parts() -> None:
    store = MemoryStore()
    init_counters(store, LINK_NUMBER - 3)
    end = SubscriberEndpoint(1, Mission(7), store, 0)
    with pytest.raises(LocalProtocolError, match="all its 2\\^31 message numbers"):
        end.subscribe(subscription(10, 3, HOUR_Q, 1, 50, 2, 90), EITHER, 0, occupies=2)
    assert end.in_force == ()


def test_size_of_a_subscription_defaults_to_that_of_its_parts() -> None:
    end = SubscriberEndpoint(1, Mission(7, {EITHER: EITHER_TOPICS}), MemoryStore(), 0)
    end.subscribe(subscription(10, 3, HOUR_Q, 1, 50, 2, 90), EITHER, 0)
    with pytest.raises(LocalProtocolError, match="subscription 10 occupies the ids 10 to 12"):
        end.subscribe(subscription(12, 9, HOUR_Q, 1, 0), LANGUAGE, 0)
    end.subscribe(subscription(13, 9, HOUR_Q, 1, 0), LANGUAGE, 0)
    with pytest.raises(LocalProtocolError, match="invalid subscription in language 10: byte 2"):
        end.subscribe(subscription(20, 9, HOUR_Q, 1, 0), EITHER, 0)
    assert [one.id for one in end.in_force] == [10, 13]
