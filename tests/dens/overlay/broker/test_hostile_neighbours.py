"""What a neighbour of the mission can make a broker keep has bounds, and leaves room for the others."""

from dataclasses import replace

import pytest

from dens.overlay.broker.node import BrokerNode
from dens.overlay.events import CopyReplicated
from dens.overlay.limits import Limits
from dens.overlay.mission import Mission
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.broker_messages import Advertised, Join, Unadvertised
from dens.overlay.wire.codes import ADVERTISE, JOIN, LINK_NUMBER, SUBSCRIBE, SUMMARY, UNADVERTISE, Role
from dens.overlay.wire.envelope import pack, pack_link
from dens.overlay.wire.item import Item
from dens.overlay.wire.messages import Hello, SummaryMessage, Withdrawal
from emulation.fault_injection.topics import LANGUAGE, TOPICS, TopicDirectory, subscription
from tests.dens.overlay.broker.net import QUICK, BrokerNet
from tests.dens.overlay.broker.topic_routing import TABLES, TopicRouting

TIGHT = replace(Limits(), subscriptions=400, joins=80, advertisements=80, tombstones=80)
SHARE = 20
"""A quarter of these."""
HOSTILE, HONEST, END = 9, 3, 100
LIFE_Q = 200


class Victim:
    """A broker between a neighbour that answers nothing, an honest one, and an end."""

    def __init__(self, subscriptions: int = 0, limits: Limits = TIGHT) -> None:
        self.store = MemoryStore()
        self.limits = limits
        self.now_ms = 0
        self.start()
        for id in range(subscriptions):
            self.take(END, SUBSCRIBE, END, id + 1, subscription(id, 1, LIFE_Q, id, 0))

    def start(self) -> None:
        self.node = BrokerNode(
            2,
            Mission(
                7,
                {LANGUAGE: replace(TOPICS, relations=TopicRouting(TABLES["covering"]))},
                limits=self.limits,
            ),
            self.store,
            self.now_ms,
            directory=TopicDirectory(),
        )
        self.meet(HOSTILE, Role.MEDIATOR)
        self.meet(HONEST, Role.MEDIATOR)
        self.meet(END, Role.SUBSCRIBER)

    def meet(self, peer: int, role: Role) -> None:
        self.node.contact_opened(peer, self.now_ms)
        said = SummaryMessage(Hello(role, 5, 0), b"", b"").encode()
        self.node.receive(pack_link(SUMMARY, peer, LINK_NUMBER, 7, 0, said), peer, self.now_ms)

    def take(self, peer: int, kind: int, origin: int, number: int, payload: bytes) -> bool:
        """Let a message arrive; return whether it was taken."""
        self.now_ms += 10
        language = 0 if kind == UNADVERTISE else LANGUAGE
        item = Item(kind, language, origin, number, 0, LIFE_Q, 1, payload)
        self.node.receive(pack(item, 7, 0, 1, 0), peer, self.now_ms)
        self.node.timer_due(self.now_ms)
        self.node.datagrams_to_send(self.now_ms)
        is_taken = False
        while (event := self.node.next_event()) is not None:
            is_taken |= isinstance(event, CopyReplicated) and event.item.id == item.id
        return is_taken

    def join(self, peer: int, number: int) -> bool:
        vector = subscription(0, 0, LIFE_Q, number % 250, 0)
        return self.take(peer, JOIN, peer, number, Join(20_000 + number, vector).encode())

    def advertise(self, peer: int, publisher: int, generation: int = 1, body: bytes = b"") -> bool:
        vector = bytes((1, generation % 200, LIFE_Q)) + body
        return self.take(peer, ADVERTISE, publisher, generation, Advertised(generation, vector).encode())

    def unadvertise(self, peer: int, publisher: int) -> bool:
        payload = Unadvertised(1, Withdrawal(1, 3)).encode()
        return self.take(peer, UNADVERTISE, publisher, 2, payload)


def test_a_neighbour_that_joins_for_everything_leaves_room_for_others() -> None:
    victim = Victim()
    taken = [victim.join(HOSTILE, number) for number in range(1, 100)]
    assert sum(taken) == SHARE
    assert victim.join(HONEST, 1)


def test_a_neighbour_that_advertises_everything_leaves_room_for_others() -> None:
    victim = Victim()
    taken = [victim.advertise(HOSTILE, 10_000 + one) for one in range(100)]
    assert sum(taken) == SHARE
    assert victim.advertise(HONEST, 200)


def test_a_neighbour_that_withdraws_everything_leaves_room_for_others() -> None:
    victim = Victim()
    taken = [victim.unadvertise(HOSTILE, 10_000 + one) for one in range(100)]
    assert sum(taken) == SHARE
    assert victim.unadvertise(HONEST, 200)


def test_a_share_that_is_given_back_can_be_used_again() -> None:
    victim = Victim()
    for one in range(SHARE):
        assert victim.advertise(HOSTILE, 10_000 + one)
    assert not victim.advertise(HOSTILE, 30_000)
    assert victim.unadvertise(HOSTILE, 10_000)
    assert victim.advertise(HOSTILE, 30_000)
    assert not victim.advertise(HOSTILE, 30_001)


def test_shares_are_known_after_a_restart() -> None:
    victim = Victim()
    for one in range(SHARE):
        assert victim.advertise(HOSTILE, 10_000 + one)
        assert victim.unadvertise(HOSTILE, 40_000 + one)
        assert victim.join(HOSTILE, one + 1)
    victim.now_ms += 1_000
    victim.node.timer_due(victim.now_ms)
    victim.node.datagrams_to_send(victim.now_ms)
    victim.store = victim.store.crash()
    victim.start()
    assert not victim.advertise(HOSTILE, 30_000)
    assert not victim.unadvertise(HOSTILE, 50_000)
    assert victim.advertise(HONEST, 200)
    assert victim.unadvertise(HONEST, 201)


def words_held(victim: Victim) -> int:
    """Return how many JOINs and PRUNEs of its own a broker holds."""
    return sum(one.origin == 2 for one in victim.node.state.items.values())


def test_a_neighbour_that_never_answers_does_not_make_prunes_pile_up() -> None:
    """Its publisher's generations advertise everything and something without subscribers, by turns."""
    victim = Victim(10)
    most = 0
    for generation in range(1, 60):
        victim.advertise(HOSTILE, 10_000, generation, b"" if generation % 2 else bytes((255, 255)))
        most = max(most, words_held(victim))
    assert 0 < most <= SHARE


def test_invented_publishers_do_not_multiply_with_subscriptions() -> None:
    victim = Victim(10)
    for one in range(SHARE):
        assert victim.advertise(HOSTILE, 10_000 + one)
    assert words_held(victim) == SHARE
    assert victim.node.broker.requests.unsent == (SHARE - 2) * 10
    assert victim.advertise(HONEST, 200)
    assert words_held(victim) == SHARE + 10


@pytest.mark.parametrize("table", sorted(TABLES))
def test_joins_without_room_are_sent_when_there_is_room(table: str) -> None:
    net = BrokerNet([(1, 2), (1, 200), (2, 100)], limits=replace(QUICK, joins=8), table=TABLES[table])
    for topic in (1, 5, 9):
        net.advertise(200, topic, topic)
        net.subscribe(100, topic, topic, 0)
    net.run()
    requests = net.broker(2).broker.requests
    assert requests.unsent == 1
    assert requests.counts(1)[0] == 2
    net.unsubscribe(100, 1)
    net.run()
    assert requests.unsent == 0
    net.publish(200, 5, 1)
    net.publish(200, 9, 1)
    net.run()
    assert set(net.delivered) == net.oracle.owed
    assert len(net.delivered) == 2


def test_cover_stays_while_its_replacement_has_no_room() -> None:
    """The wider one is taken back, and the narrower ones that it stood for find room for one of two."""
    net = BrokerNet([(1, 2), (1, 200), (2, 100)], limits=replace(QUICK, joins=8))
    net.advertise(200, 0, 1)
    net.advertise(200, 1, 2)
    net.subscribe(100, 0, 1, 0)
    net.subscribe(100, 1, 1, 50)
    net.subscribe(100, 2, 2, 0)
    net.run()
    net.unsubscribe(100, 0)
    net.run()
    net.publish(200, 1, 60)
    net.publish(200, 2, 60)
    net.run()
    assert set(net.delivered) == net.oracle.owed
    assert len(net.delivered) == 2
