"""Link messages of an earlier life change nothing: late acknowledgements, and numbers that begin again."""

from collections.abc import Callable

import pytest

from dens.overlay.assembly import Assembly
from dens.overlay.events import OffersHeard
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.storage.durable_state import DurableState, init_counters
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import ACKNOWLEDGEMENT, LINK_NUMBER, SUBSCRIBE, Role
from emulation.fault_injection.topics import LANGUAGE, TOPICS, TopicDirectory, subscription
from tests.dens.overlay.on_air import messages_in

SUBSCRIBER, MEDIATOR = 1, 2
HOUR_Q = 96
QUICK = Limits(hello_ms=50, retry_ms=200, retry_most_ms=400, ack_delay_ms=10)
Loses = Callable[[int, int], bool]


class Pair:
    """A subscriber and a mediator in one contact, which lasts whatever happens to the mediator."""

    def __init__(self, key: bytes | None = None) -> None:
        self.assembly = Assembly(
            Mission(7, {LANGUAGE: TOPICS}, key=key, limits=QUICK), directory=TopicDirectory
        )
        self.now_ms = 0
        self.stores = {SUBSCRIBER: MemoryStore(), MEDIATOR: MemoryStore()}
        self.engines: dict[int, Engine] = {}
        self.lost: list[tuple[int, bytes]] = []
        for node in self.stores:
            self.start(node)
        self.engines[SUBSCRIBER].contact_opened(MEDIATOR, 0)
        self.engines[MEDIATOR].contact_opened(SUBSCRIBER, 0)

    def start(self, node: int) -> None:
        make = self.assembly.subscriber if node == SUBSCRIBER else self.assembly.mediator
        self.engines[node] = make(node, self.stores[node], self.now_ms)

    def crash(self, node: int, *, has_store: bool = True) -> None:
        self.stores[node] = self.stores[node].crash() if has_store else MemoryStore()
        if not has_store:
            init_counters(self.stores[node], 1_000 + self.now_ms)
        self.start(node)
        self.engines[node].contact_opened(SUBSCRIBER + MEDIATOR - node, self.now_ms)

    @property
    def mediator(self) -> DensNode:
        engine = self.engines[MEDIATOR]
        assert isinstance(engine, DensNode)
        return engine

    def run(self, for_ms: int = 1_000, loses: Loses = lambda node, type: False) -> None:
        """Let time pass; keep the datagrams that are lost."""
        end_ms = self.now_ms + for_ms
        while self.now_ms < end_ms:
            is_busy = True
            while is_busy:
                is_busy = False
                for node, engine in self.engines.items():
                    engine.timer_due(self.now_ms)
                    for datagram in engine.datagrams_to_send(self.now_ms):
                        is_busy = True
                        types = {item.type for item in messages_in(datagram.data, self.now_ms)}
                        if any(loses(node, type) for type in types):
                            self.lost.append((node, datagram.data))
                        else:
                            self.engines[datagram.peer].receive(datagram.data, node, self.now_ms)
            self.now_ms += 10


@pytest.mark.parametrize("has_store", [True, False])
@pytest.mark.parametrize("key", [None, b"mission"])
def test_an_acknowledgement_of_a_life_whose_store_was_lost_settles_nothing(
    key: bytes | None, has_store: bool
) -> None:
    """A subscription is acknowledged, the answer is late, and the mediator loses its store. The subscription
    is on its way once more when the answer arrives.
    """
    pair = Pair(key)
    pair.run()
    end = pair.engines[SUBSCRIBER]
    end.subscribe(subscription(0, 1, HOUR_Q, 1, 50), LANGUAGE, pair.now_ms)  # type: ignore[attr-defined]
    pair.run(100, loses=lambda node, type: type == ACKNOWLEDGEMENT)
    assert len(pair.mediator.state.table) == 1
    [late, *_] = [data for node, data in pair.lost if node == MEDIATOR]
    pair.crash(MEDIATOR, has_store=has_store)
    pair.run(loses=lambda node, type: type == SUBSCRIBE)
    end.receive(late, MEDIATOR, pair.now_ms)
    pair.run(3_000)
    assert len(pair.mediator.state.table) == 1


def test_a_restarted_node_is_answered_its_first_question_in_the_same_contact() -> None:
    pair = Pair()
    asker = pair.engines[SUBSCRIBER]
    for seq in range(1, 20):
        asker.subscribe(subscription(0, seq, HOUR_Q, 1, 50), LANGUAGE, pair.now_ms)  # type: ignore[attr-defined]
        asker.look_up(b"", pair.now_ms)
        pair.run(200)
    pair.crash(SUBSCRIBER)
    pair.run(500)
    asker = pair.engines[SUBSCRIBER]
    number = asker.look_up(b"", pair.now_ms, timeout_ms=150)
    pair.run(200)
    heard = [one for one in iter(asker.next_event, None) if isinstance(one, OffersHeard)]
    assert [(one.number, one.mediators) for one in heard] == [(number, 1)]


# ---------------------------------------------------------------------- numbers


@pytest.mark.parametrize("count", [1, 5, 5_000])
def test_link_numbers_of_a_later_life_are_above_those_of_an_earlier_one(count: int) -> None:
    store, last = MemoryStore(), 0
    for _ in range(3):
        ledger = DurableState(store, QUICK)
        ledger.load()
        numbers = [ledger.link_number() for _ in range(count)]
        assert numbers == sorted(set(numbers))
        assert numbers[0] > last
        last = numbers[-1]
        ledger.commit()
        store = store.crash()


def test_link_numbers_of_a_first_life_begin_with_the_first() -> None:
    assert DurableState(MemoryStore(), QUICK).link_number() == LINK_NUMBER + 1


def greeted(number: int) -> PeerSession:
    session = PeerSession(MEDIATOR, 3, 0, QUICK)
    assert session.apply_hello(Role.MEDIATOR, 5, 3, number)
    return session


@pytest.mark.parametrize("first", [LINK_NUMBER + 7, 2 * LINK_NUMBER - 2, LINK_NUMBER])
def test_what_was_numbered_before_the_greeting_is_of_an_earlier_session(first: int) -> None:
    def number(after: int) -> int:
        return LINK_NUMBER | (first + after) % LINK_NUMBER

    session = greeted(first)
    assert [session.is_of_session(number(after)) for after in (-4_000_000, -1, 0, 1, 4_000_000)] == [
        False,
        False,
        True,
        True,
        True,
    ]
    assert [session.note_link_number(number(after)) for after in (-1, 0, 1, 1, 5, 3, 6)] == [
        False,
        True,
        True,
        False,
        True,
        False,
        True,
    ]


def test_a_session_may_last_for_more_numbers_than_there_are() -> None:
    session = greeted(LINK_NUMBER + 5)
    step = LINK_NUMBER // 16
    for count in range(1, 50):
        number = LINK_NUMBER | (5 + count * step) % LINK_NUMBER
        assert session.is_of_session(number)
        assert session.note_link_number(number)
        assert session.is_of_session(LINK_NUMBER | (number - 1_000) % LINK_NUMBER)


def test_a_newer_session_begins_where_its_greeting_says() -> None:
    session = greeted(LINK_NUMBER + 500)
    assert session.note_link_number(LINK_NUMBER + 900)
    assert session.apply_hello(Role.MEDIATOR, 6, 3, LINK_NUMBER + 2)
    assert session.note_link_number(LINK_NUMBER + 3)
    assert session.is_of_session(LINK_NUMBER + 3)
    assert not session.is_of_session(LINK_NUMBER + 1)
