"""Dictionaries meet over DENS/DENS: they end the same in any order of contacts, and send only what differs.

The nodes are real `DensNode` engines with real dictionaries, the publishers real `PublisherEndpoint` engines.
The link between them takes no time, so that even the births of extracts must agree.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.protocol import ProtocolEngine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import MessageType
from emulation.fault_injection.topics import TopicHost
from knowledge_manager.dictionary.distributed import DistributedDataDictionary
from knowledge_manager.dictionary.extract import Extract, OfferedSource
from tests.dens.overlay.on_air import messages_in
from tests.knowledge_manager.histories import state_of
from tests.sizes import examples

FIRST_MEDIATOR = 1_001
TABLE_CHECK = 7


@dataclass
class Mediator:
    """A DENS node, what it knows, and its disk."""

    number: int
    store: MemoryStore = field(default_factory=MemoryStore)
    limits: Limits = field(default_factory=Limits)
    dictionary: DistributedDataDictionary = field(init=False)
    node: DensNode = field(init=False)

    def __post_init__(self) -> None:
        self.start(0)

    def start(self, now_ms: int) -> None:
        """Begin, or begin again after a crash: the dictionary is made from the store."""
        self.dictionary = DistributedDataDictionary(bound=self.limits.announcements)
        self.node = DensNode(
            self.number,
            Mission(TABLE_CHECK, limits=self.limits),
            self.store,
            now_ms,
            directory=self.dictionary,
        )


def mediators(count: int, limits: Limits | None = None) -> list[Mediator]:
    return [Mediator(FIRST_MEDIATOR + place, limits=limits or Limits()) for place in range(count)]


ANSWER_MS = 300
"""Answers are collected for less than this; messages are repeated after more."""


def meet(
    a: tuple[int, ProtocolEngine],
    b: tuple[int, ProtocolEngine],
    now_ms: int,
    spoil: random.Random | None = None,
) -> list[bytes]:
    """Let two machines talk until both are silent and no answer is due; return all that was sent.
    `spoil` flips some bits.
    """
    (a_number, a_machine), (b_number, b_machine) = a, b
    a_machine.contact_opened(b_number, now_ms)
    b_machine.contact_opened(a_number, now_ms)
    sent: list[bytes] = []
    for step in range(100 if spoil is None else 5):
        spoken = 0
        for here, machine, there in ((a_number, a_machine, b_machine), (b_number, b_machine, a_machine)):
            for datagram in machine.datagrams_to_send(now_ms):
                sent.append(datagram.data)
                spoken += 1
                there.receive(_spoilt(datagram.data, spoil), here, now_ms)
        if not spoken and step:
            due = [machine.next_timer_ms() for machine in (a_machine, b_machine)]
            soon = [one for one in due if one is not None and one <= now_ms + ANSWER_MS]
            if not soon:
                break
            now_ms = max(now_ms, *soon)
            for machine in (a_machine, b_machine):
                machine.timer_due(now_ms)
    a_machine.contact_lost(b_number, now_ms)
    b_machine.contact_lost(a_number, now_ms)
    return sent


def _spoilt(data: bytes, chance: random.Random | None) -> bytes:
    if chance is None or chance.random() < 0.5:
        return data
    spoilt = bytearray(data)
    spoilt[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(spoilt)


def mediators_meet(a: Mediator, b: Mediator, now_ms: int) -> list[bytes]:
    return meet((a.number, a.node), (b.number, b.node), now_ms)


def extract(counter: int, mask: int) -> bytes:
    return Extract(counter, 140, 1, (OfferedSource(0, mask),)).encode()


def tell(listeners: Iterable[Mediator], publisher: int, masks: list[int], now_ms: int) -> None:
    """Let a publisher announce each of these in turn, all listeners hearing at least the last."""
    end = PublisherEndpoint(publisher, Mission(TABLE_CHECK), MemoryStore(), 0, filter_host=TopicHost())
    heard_by = list(listeners)
    for counter, mask in enumerate(masks):
        end.announce(extract(counter, mask), now_ms - 1_000 * (len(masks) - counter))
        if counter < len(masks) - 1:
            for listener in heard_by[counter % 2 :: 2]:
                meet((publisher, end), (listener.number, listener.node), now_ms)
    for listener in heard_by:
        meet((publisher, end), (listener.number, listener.node), now_ms)


def announcements(sent: list[bytes]) -> int:
    return sum(item.type == MessageType.ANNOUNCE for data in sent for item in messages_in(data))


HISTORIES = st.lists(
    st.tuples(
        st.integers(0, 3),  # which mediator hears it
        st.lists(st.integers(1, 127), min_size=1, max_size=3),  # what is announced, one after the other
    ),
    max_size=6,
)
History = list[tuple[int, list[int]]]


def four_told(history: History) -> list[Mediator]:
    nodes = mediators(4)
    for publisher, (listener, masks) in enumerate(history):
        tell([nodes[listener]], publisher, masks, 10_000 + publisher)
    return nodes


@given(HISTORIES, st.randoms(use_true_random=False))
@settings(max_examples=examples(40))
def test_any_order_of_contacts_ends_in_the_same_dictionary(history: History, chance: random.Random) -> None:
    nodes = four_told(history)
    ring = [(place, (place + 1) % 4) for place in range(4)] * 2
    chance.shuffle(ring)
    path = [(0, 1), (1, 2), (2, 3), (3, 2), (2, 1), (1, 0)]
    for turn, (one, other) in enumerate([*ring, *path]):
        mediators_meet(nodes[one], nodes[other], 20_000 + turn)
    expected = [
        (publisher, extract(len(masks) - 1, masks[-1]), 10_000 + publisher - 1_000)
        for publisher, (_, masks) in enumerate(history)
    ]
    for node in nodes:
        assert state_of(node.dictionary) == expected


@given(HISTORIES)
@settings(max_examples=25)
def test_meeting_again_sends_no_extract_and_changes_nothing(history: History) -> None:
    a, b, *_ = four_told(history)
    mediators_meet(a, b, 20_000)
    before = state_of(a.dictionary)
    assert state_of(b.dictionary) == before
    assert announcements(mediators_meet(b, a, 30_000)) == 0
    assert state_of(a.dictionary) == state_of(b.dictionary) == before


@given(HISTORIES, st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_corrupt_frames_never_bring_an_older_extract_back(history: History, chance: random.Random) -> None:
    a, b, *_ = four_told(history)
    known = {held.node: held.extract.counter for held in b.dictionary.held()}
    meet((a.number, a.node), (b.number, b.node), 20_000, spoil=chance)
    for node, counter in known.items():
        held = b.dictionary.get(node)
        assert held is not None
        assert held.extract.counter >= counter


def test_ten_differences_in_a_thousand_send_ten_extracts() -> None:
    a, b = mediators(2)
    for publisher in range(1_000):
        newer = publisher % 100 == 0
        tell([a] if newer and publisher % 200 else [b] if newer else [a, b], publisher, [1, 2], 10_000)
    sent = mediators_meet(a, b, 20_000)
    assert state_of(a.dictionary) == state_of(b.dictionary)
    assert len(a.dictionary) == 1_000
    assert announcements(sent) == 10


def test_relayed_knowledge_is_marked_and_ages() -> None:
    a, b, c = mediators(3)
    tell([a], 7, [1], 2_000)
    mediators_meet(a, b, 5_000)
    mediators_meet(b, c, 9_000)
    held = c.dictionary.get(7)
    assert held is not None
    assert held.born_ms == 1_000
    assert (held.provenance.via, held.provenance.hops, held.provenance.heard_ms) == (b.number, 3, 9_000)


def test_a_restart_does_not_make_an_extract_younger() -> None:
    a, b = mediators(2)
    tell([a], 7, [1], 2_000)
    mediators_meet(a, b, 3_000)  # nothing is handed on before it is committed
    a.store = a.store.crash()
    a.start(60_000)
    held = a.dictionary.get(7)
    assert held is not None
    assert held.born_ms == 1_000
    assert held.provenance.via == a.number, "it came from this node's own disk"


@given(st.permutations(range(5)))
@settings(max_examples=20)
def test_beyond_the_bound_the_latest_born_stay_in_whatever_order_they_come(order: list[int]) -> None:
    (a,) = mediators(1, Limits(announcements=3))
    for publisher in order:
        tell([a], publisher, [1], 10_000 + 1_000 * publisher)
    assert [held.node for held in a.dictionary.held()] == [2, 3, 4]
