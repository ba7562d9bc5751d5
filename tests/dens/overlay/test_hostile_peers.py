"""What a peer of the mission can make a node keep and do has bounds: memory stays flat, and no datagram costs
more than the one before it.

Memory is measured with tracemalloc and work with the processor's clock, both as ratios within one run.
"""

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from time import process_time

import pytest

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import DatagramRefused, NotificationDelivered
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.rate_limit import RateLimit
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import (
    ACKNOWLEDGEMENT,
    HELLO,
    LINK_NUMBER,
    LOOKUP,
    OFFERS,
    SUMMARY,
    MessageType,
    Role,
)
from dens.overlay.wire.envelope import pack, pack_link
from dens.overlay.wire.item import Item, lifetime_code_ms
from dens.overlay.wire.lookup_messages import Lookup, OfferEntry, Offers
from dens.overlay.wire.messages import Acknowledgement, Hello, Satisfied, SummaryMessage
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    subscription,
)
from tests.sizes import full_in_soak

HOUR_Q = lifetime_code_ms(3_600_000)
TIGHT = replace(
    Limits(),
    notification_items=300,
    notification_bytes=30_000,
    subscriptions=60,
    tombstones=60,
    receipts=300,
    announcements=30,
    known_items=600,
    contact_items=512,
    owed=2_000,
)
PEER = 9


class BoundedDirectory(TopicDirectory):
    """Forgets who was heard longest ago, as the one that ships does."""

    def learn(
        self,
        node: int,
        extract: bytes,
        now_ms: int,
        *,
        age_ms: int = 0,
        via: int | None = None,
        hops: int = 1,
    ) -> None:
        super().learn(node, extract, now_ms)
        if len(self._topics) > TIGHT.announcements:
            del self._topics[next(iter(self._topics))]


def mediator(limits: Limits = TIGHT, store: MemoryStore | None = None) -> DensNode:
    mission = Mission(7, {LANGUAGE: TOPICS}, limits=limits)
    return DensNode(2, mission, store or MemoryStore(), 0, directory=BoundedDirectory())


def link(kind: int, number: int, payload: bytes) -> bytes:
    return pack_link(kind, PEER, number | LINK_NUMBER, 7, 0, payload)


def summary(session: int, role: Role = Role.MEDIATOR, known: bytes = b"") -> bytes:
    return link(SUMMARY, session, SummaryMessage(Hello(role, session, 0), b"", known).encode())


def acknowledgements(chance: Random) -> Iterator[bytes]:
    """Acknowledge, again and again, what was never sent."""
    while True:
        entries = tuple((chance.randrange(65_536), chance.randrange(2**32), 0) for _ in range(50))
        yield link(ACKNOWLEDGEMENT, chance.randrange(2**31), Acknowledgement(entries).encode())


def sessions(chance: Random) -> Iterator[bytes]:
    """Begin a new session with every datagram, and know nothing."""
    for session in range(6, 2**31):
        yield summary(session)


def greetings(chance: Random) -> Iterator[bytes]:
    """Begin a new session with every datagram, without a summary."""
    for session in range(6, 2**31):
        yield link(HELLO, session, Hello(Role.MEDIATOR, session, 0).encode())


def summaries(chance: Random) -> Iterator[bytes]:
    """Say something else with every datagram of one session."""
    for number in range(2**31):
        yield link(SUMMARY, number, SummaryMessage(Hello(Role.MEDIATOR, 5, 0), b"", b"").encode())


def notifications(chance: Random) -> Iterator[bytes]:
    """Invent publishers."""
    while True:
        item_id = chance.randrange(10, 65_536), chance.randrange(2**31)
        yield item(MessageType.NOTIFICATION, *item_id, bytes((1, chance.randrange(256))))


def subscriptions(chance: Random) -> Iterator[bytes]:
    """Invent subscribers, who want everything."""
    while True:
        vector = subscription(chance.randrange(256), chance.randrange(256), HOUR_Q, 1, 0)
        yield item(MessageType.SUBSCRIBE, chance.randrange(10, 65_536), chance.randrange(2**31), vector)


def receipts(chance: Random) -> Iterator[bytes]:
    """Invent receipts."""
    while True:
        yield item(MessageType.RECEIPT, 11, chance.randrange(2**31), chance.randbytes(6))


def withdrawals(chance: Random) -> Iterator[bytes]:
    while True:
        item_id = chance.randrange(10, 65_536), chance.randrange(2**31)
        yield item(MessageType.UNSUBSCRIBE, *item_id, chance.randbytes(2))


def renewals(chance: Random) -> Iterator[bytes]:
    """Renew one subscription for ever."""
    for number in range(2**31):
        yield item(MessageType.RENEW, 12, number, bytes(4) + subscription(1, 1, HOUR_Q, 1, 0))


def announcements(chance: Random) -> Iterator[bytes]:
    while True:
        yield item(MessageType.ANNOUNCE, chance.randrange(10, 65_536), chance.randrange(2**31), b"\x01")


def item(kind: int, origin: int, number: int, payload: bytes) -> bytes:
    language = LANGUAGE if kind in (16, 17, 35) else 0
    return pack(Item(kind, language, origin, number, 0, HOUR_Q, 1, payload), 7, 0, 1, 0)


def lookups(chance: Random) -> Iterator[bytes]:
    """Send a look-up with every datagram, for any origin, which all others have to answer for a minute."""
    for number in range(2**31):
        asked = Lookup(chance.randrange(10, 65_536), number, 255, 65_535, b"")
        yield link(LOOKUP, number, asked.encode())


def answers(chance: Random) -> Iterator[bytes]:
    """Send long answers to queries that were never made."""
    told = item(MessageType.ANNOUNCE, 11, 1, b"\x01" * 50)
    for number in range(2**31):
        entries = tuple(OfferEntry(1, told) for _ in range(20))
        said = Offers(2, chance.randrange(2**32), 0, 255, 0, 65_535, entries)
        yield link(OFFERS, number, said.encode())


ATTACKS: list[Callable[[Random], Iterator[bytes]]] = [
    acknowledgements,
    sessions,
    greetings,
    summaries,
    notifications,
    subscriptions,
    receipts,
    withdrawals,
    renewals,
    announcements,
    lookups,
    answers,
]


class Victim:
    """A mediator in contact with a hostile peer, with an honest mediator and with an honest subscriber."""

    def __init__(self) -> None:
        self.node = mediator()
        self.now_ms = 0
        for peer, role in ((3, Role.MEDIATOR), (4, Role.SUBSCRIBER), (PEER, Role.MEDIATOR)):
            self.node.contact_opened(peer, 0)
            known = SummaryMessage(Hello(role, 5, 0), b"", b"").encode()
            self.node.receive(pack_link(SUMMARY, peer, LINK_NUMBER, 7, 0, known), peer, 0)

    def take(self, data: bytes) -> float:
        """Take a datagram as a driver would, five milliseconds after the last; return what it cost."""
        node = self.node
        self.now_ms += 5
        begin = process_time()
        node.receive(data, PEER, self.now_ms)
        node.timer_due(self.now_ms)
        sent = node.datagrams_to_send(self.now_ms)
        while node.next_event() is not None:
            pass
        cost = process_time() - begin
        for out in sent:  # Honest peers acknowledge what they are sent; the hostile one does not.
            number = int.from_bytes(out.data[8:12], "big")
            if out.peer != PEER and number < LINK_NUMBER:
                entry = (int.from_bytes(out.data[4:8], "big"), number, 0)
                body = pack_link(
                    ACKNOWLEDGEMENT, out.peer, LINK_NUMBER, 7, 0, Acknowledgement((entry,)).encode()
                )
                node.receive(body, out.peer, self.now_ms)
        return cost


def costs(victim: Victim, datagrams: Iterator[bytes], count: int) -> list[float]:
    return [victim.take(next(datagrams)) for _ in range(count)]


def check_flat(attack: Callable[[Random], Iterator[bytes]], warm: int, count: int) -> None:
    """Attack until everything is full; from then on memory is flat and no tenth costs more than the first."""
    tracemalloc.start()
    try:
        victim, datagrams = Victim(), attack(Random(1))
        costs(victim, datagrams, warm)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        costs(victim, datagrams, count // 2)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 100_000, f"{after - before} bytes more after {count // 2} datagrams"
    check_costs(victim, datagrams, count // 2)


def check_costs(victim: Victim, datagrams: Iterator[bytes], count: int) -> None:
    """No tenth costs more than the first."""
    spent = costs(victim, datagrams, count)
    tenth = len(spent) // 10
    first, last = sorted(spent[:tenth]), sorted(spent[-tenth:])
    assert sum(last[: tenth * 9 // 10]) < 3 * sum(first[: tenth * 9 // 10])


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_costs_no_memory_and_no_more_work_than_before(
    attack: Callable[[Random], Iterator[bytes]],
) -> None:
    check_flat(attack, 4_000, 4_000)


@pytest.mark.slow
def test_memory_is_flat_after_many_hostile_datagrams() -> None:
    """All attacks at once, in turn: 20,000 datagrams, in soak 120,000. No 4 bytes per datagram are kept."""
    warm, count = full_in_soak((8_000, 4_000), (20_000, 25_000))

    def everything(chance: Random) -> Iterator[bytes]:
        running = [attack(chance) for attack in ATTACKS]
        while True:
            yield next(chance.choice(running))

    tracemalloc.start()
    try:
        victim, datagrams = Victim(), everything(Random(1))
        costs(victim, datagrams, warm)
        before, after = (least_memory(victim, datagrams, count) for _ in range(2))
    finally:
        tracemalloc.stop()
    assert after - before < 4 * count, f"{after - before} bytes more after {count} datagrams"
    check_costs(victim, datagrams, full_in_soak(4_000, 50_000))


def least_memory(victim: Victim, datagrams: Iterator[bytes], count: int, looks: int = 10) -> int:
    """Return the least of ten looks at the memory. Full dictionaries forget, take in, and are rebuilt while
    they do, each at another moment; what stays somewhere raises the least too.
    """
    found = []
    for _ in range(looks):
        costs(victim, datagrams, count // looks)
        gc.collect()
        found.append(tracemalloc.get_traced_memory()[0])
    return min(found)


@pytest.mark.parametrize("attack", [acknowledgements, sessions, greetings, summaries, answers])
def test_what_says_nothing_costs_about_what_an_honest_datagram_costs(
    attack: Callable[[Random], Iterator[bytes]],
) -> None:
    """With a node full of what the peer does not have: one datagram in many makes it compare all of that."""
    victim = Victim()
    costs(victim, notifications(Random(1)), 1_000)
    hostile = sum(costs(victim, attack(Random(2)), 2_000))
    honest = sum(costs(victim, notifications(Random(3)), 2_000))
    assert hostile < 2 * honest


def test_acknowledgements_of_what_was_never_sent_leave_nothing_behind() -> None:
    victim = Victim()
    costs(victim, acknowledgements(Random(1)), 200)
    session = victim.node.context.sessions[PEER]
    assert len(session._also_has) == 0


def test_a_peer_that_begins_sessions_all_the_time_is_heard_once_a_second() -> None:
    node = mediator()
    node.contact_opened(PEER, 0)
    begun, refused = set[int](), 0
    for number in range(2_000):
        now_ms = 10 * number
        node.receive(summary(5 + number), PEER, now_ms)
        begun.add(node.context.sessions[PEER].peer_session)
        while (event := node.next_event()) is not None:
            refused += isinstance(event, DatagramRefused) and event.reason == "rate_limit"
    assert len(begun) == TIGHT.session_burst + 19_990 // TIGHT.session_ms
    assert refused == 2_000 - len(begun)


def test_honest_peers_are_not_refused_for_what_others_do() -> None:
    victim = Victim()
    costs(victim, sessions(Random(1)), 500)
    node = victim.node
    for life in range(5):
        hello = Hello(Role.MEDIATOR, 6 + life, 0).encode()
        node.receive(pack_link(HELLO, 3, LINK_NUMBER, 7, 0, hello), 3, victim.now_ms)
        assert node.context.sessions[3].peer_session == 6 + life


def test_a_bucket_fills_again_and_survives_a_clock_that_is_set_back() -> None:
    limit = RateLimit(100, 3)
    assert [limit.admits(1, 1_000) for _ in range(4)] == [True, True, True, False]
    assert limit.admits(2, 1_000)
    assert [limit.admits(1, at_ms) for at_ms in (1_099, 1_100, 1_101)] == [False, True, False]
    assert [limit.admits(1, 5_000) for _ in range(4)] == [True, True, True, False]
    assert [limit.admits(1, -10_000), limit.admits(1, -9_900)] == [False, True]
    for peer in range(5_000):
        limit.admits(peer, 10_000 + 100 * peer)
    assert len(limit) < 200


class Crowd:
    """A mediator with more pending deliveries than it keeps; its subscribers connect one after the other."""

    def __init__(self, owed: int) -> None:
        self.limits = replace(Limits(), owed=owed, session_ms=50)
        self.store = MemoryStore()
        self.node = mediator(self.limits, self.store)
        self.ends = {
            number: SubscriberEndpoint(number, Mission(7), MemoryStore(), 0) for number in (11, 12, 13)
        }
        for end in self.ends.values():
            for id in range(8):
                end.subscribe(subscription(id, 0, HOUR_Q, 1, 0), LANGUAGE, 0)
        source = PublisherEndpoint(21, Mission(7), MemoryStore(), 0, filter_host=TopicHost())
        for value in range(40):
            source.publish(LANGUAGE, bytes((1, value)), HOUR_Q, 0)
        self.seen: dict[int, list[NotificationDelivered]] = {number: [] for number in self.ends}
        for end in self.ends.values():
            self.meet(end, 0)
        self.meet(source, 20_000)

    def meet(self, end: SubscriberEndpoint | PublisherEndpoint, begin_ms: int) -> None:
        node = self.node
        node.contact_opened(end.node, begin_ms)
        end.contact_opened(node.node, begin_ms)
        for now_ms in range(begin_ms, begin_ms + 19_000, 100):
            for machine, other in ((node, end), (end, node)):
                machine.timer_due(now_ms)
                for out in machine.datagrams_to_send(now_ms):
                    if out.peer == other.node:
                        other.receive(out.data, machine.node, now_ms)
                while (event := machine.next_event()) is not None:
                    if isinstance(event, NotificationDelivered):
                        self.seen[end.node].append(event)
            assert node.state.carried.pending_pairs <= max(self.limits.owed, 8)
        node.contact_lost(end.node, begin_ms + 19_000)
        end.contact_lost(node.node, begin_ms + 19_000)


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.parametrize("pending_count", [0, 1, 7, 100, 320, 959, 960])
def test_what_is_not_kept_as_pending_is_found_when_its_subscriber_is_met(
    pending_count: int, is_restarted: bool
) -> None:
    crowd = Crowd(pending_count)
    if is_restarted:
        crowd.node = mediator(crowd.limits, crowd.store.crash())
        assert crowd.node.state.carried.pending_pairs <= max(pending_count, 8)
    for turn, end in enumerate(crowd.ends.values()):
        crowd.meet(end, 40_000 + 20_000 * turn)
    for events in crowd.seen.values():
        assert sorted(event.item.payload[1] for event in events) == list(range(40))
        for event in events:  # Its pending notifications arrive together.
            assert event.satisfied == tuple(Satisfied(id, 0, event.item.payload[1]) for id in range(8))
    assert crowd.node.state.carried.pending_pairs == 0


def test_pending_delivery_indexes_agree() -> None:
    crowd = Crowd(100)
    carried = crowd.node.state.carried
    pairs = sum(len(mine) for one in carried.all() for mine in one.pending.values())
    assert carried.pending_pairs == pairs > 0
    for one in carried.all():
        carried.remove(one.item.id)
    assert carried.pending_pairs == 0
