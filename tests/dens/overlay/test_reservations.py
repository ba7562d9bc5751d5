"""What becomes of a copy that was sent: each row of the table in docs/reference/protocols.md, also after a
crash."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.policies.spray_and_wait import SprayAndWait
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.reservations import COUNTED, RETURNED, Reservation, Reservations, row_key
from dens.overlay.wire.codes import LAST_NODE, LINK_NUMBER, MessageType, Role, Status
from dens.overlay.wire.item import Item, ItemId, item_id
from dens.overlay.wire.messages import Acknowledgement, Hello, SummaryMessage
from dens.overlay.wire.summary import NumberRanges, encode
from emulation.fault_injection.topics import LANGUAGE, TOPICS, TopicDirectory, TopicHost
from tests.dens.overlay.test_engines import HOUR_Q, ScriptedPeer

NODE, PUBLISHER, FIRST, SECOND = 2, 4, 11, 12
MESSAGE = item_id(PUBLISHER, 1)
FOUR, TWO, ONE = 3, 2, 1
"""Copies codes."""


def mediator(store: MemoryStore, now_ms: int = 0) -> DensNode:
    return DensNode(
        NODE,
        Mission(7, {LANGUAGE: TOPICS}),
        store,
        now_ms,
        directory=TopicDirectory(),
        policy=SprayAndWait(copies=4),
    )


def notification(copies: int = 0) -> Item:
    return Item(MessageType.NOTIFICATION, LANGUAGE, PUBLISHER, 1, 0, HOUR_Q, 1, bytes((5, 90)), copies)


class Meeting(ScriptedPeer):
    """A mediator in one of its sessions, which knows the message or does not."""

    def __init__(
        self,
        engine: Engine,
        node: int,
        now_ms: int,
        *,
        session: int = 5,
        knows: ItemId | None = None,
        note: bytes = b"",
        last: int = LAST_NODE,
    ) -> None:
        self.engine, self.node, self.now_ms = engine, node, now_ms
        engine.contact_opened(node, now_ms)
        self.summarise(session, knows, note, last=last)

    def summarise(
        self,
        session: int,
        knows: ItemId | None,
        note: bytes = b"",
        *,
        number: int = LINK_NUMBER + 6,
        first: int = 0,
        last: int = LAST_NODE,
    ) -> None:
        """Send a summary, or a part of one."""
        known = b""
        if knows is not None:
            its_number = knows & 0xFFFF_FFFF
            known = encode([(knows >> 32, NumberRanges([its_number], [its_number]))], 1_000)
        hello, part_of = Hello(Role.MEDIATOR, session, 0), LINK_NUMBER + 6 if first else 0
        summary = SummaryMessage(hello, note, known, (), first, last, part_of).encode()
        self.send(Item(MessageType.SUMMARY, 0, self.node, number, 0, 0, 0, summary))

    def copies(self) -> list[int]:
        """Return the codes of the copies that come now."""
        return [item.copies for item in self.hear() if item.type == MessageType.NOTIFICATION]

    def answers(self) -> list[int]:
        """Return the statuses that come now for what this peer sent."""
        heard = [item.payload for item in self.hear() if item.type == MessageType.ACKNOWLEDGEMENT]
        entries = [entry for payload in heard for entry in Acknowledgement.decode(payload).entries]
        return [status for origin, number, status in entries if item_id(origin, number) == MESSAGE]

    def answer(self, status: Status, message: ItemId = MESSAGE) -> None:
        payload = Acknowledgement(((message >> 32, message & 0xFFFF_FFFF, status),)).encode()
        self.send(Item(MessageType.ACKNOWLEDGEMENT, 0, self.node, LINK_NUMBER + 7, 0, 0, 0, payload))

    def leave(self) -> None:
        self.engine.contact_lost(self.node, self.now_ms)


def given_two() -> tuple[MemoryStore, DensNode, Meeting]:
    """Return a mediator with a budget of four that has sent two copies to the first peer."""
    store = MemoryStore()
    node = mediator(store)
    ScriptedPeer(node, PUBLISHER, Role.PUBLISHER).send(notification())
    first = Meeting(node, FIRST, 1_000)
    assert first.copies() == [TWO]
    assert node.state.items[MESSAGE].copies == TWO
    return store, node, first


def begun_again(store: MemoryStore, node: DensNode, is_crashed: bool, now_ms: int) -> DensNode:
    return mediator(store.crash(), now_ms) if is_crashed else node


def left(node: DensNode) -> tuple[int, list[int]]:
    """Return the code that is held, and for whom copies are reserved."""
    return node.state.items[MESSAGE].copies, node.context.durable.reservations.peers_of(MESSAGE)


def test_an_answer_settles_or_returns_a_copy() -> None:
    for status in Status:
        _, node, first = given_two()
        first.answer(status)
        assert left(node) == ((TWO, []) if status is Status.STORED else (0, [])), status


@pytest.mark.parametrize("is_crashed", [False, True])
def test_a_contact_that_ends_decides_nothing(is_crashed: bool) -> None:
    store, node, first = given_two()
    first.leave()
    node = begun_again(store, node, is_crashed, 2_000)
    assert left(node) == (TWO, [FIRST])
    assert Meeting(node, SECOND, 2_000).copies() == [ONE]


@pytest.mark.parametrize("is_crashed", [False, True])
def test_a_peer_that_names_the_message_keeps_its_copy(is_crashed: bool) -> None:
    store, node, first = given_two()
    first.leave()
    node = begun_again(store, node, is_crashed, 2_000)
    assert Meeting(node, FIRST, 2_000, session=6, knows=MESSAGE).copies() == []
    assert left(node) == (TWO, [])


@pytest.mark.parametrize("is_crashed", [False, True])
def test_a_peer_that_lacks_the_message_in_a_later_session_returns_its_copy(is_crashed: bool) -> None:
    store, node, first = given_two()
    first.leave()
    node = begun_again(store, node, is_crashed, 2_000)
    second = Meeting(node, SECOND, 2_000)
    assert second.copies() == [ONE]
    assert left(node) == (ONE, [FIRST, SECOND])
    Meeting(node, FIRST, 3_000, session=6)
    assert left(node) == (ONE, [SECOND, RETURNED])
    second.answer(Status.KNOWN)
    assert left(node) == (0, []), "the last division is undone first"


@pytest.mark.parametrize("is_crashed", [False, True])
def test_a_peer_that_lacks_the_message_in_the_same_session_is_sent_the_same_copy(is_crashed: bool) -> None:
    """What was sent before may still be under way, and verifies."""
    store, node, first = given_two()
    first.leave()
    node = begun_again(store, node, is_crashed, 2_000)
    again = Meeting(node, FIRST, 2_000, session=5)
    assert left(node) == (TWO, [FIRST])
    assert again.copies() == [TWO]
    assert left(node) == (TWO, [FIRST])


def test_a_retransmission_spends_nothing() -> None:
    _, node, first = given_two()
    second = Meeting(node, SECOND, 1_300)
    assert second.copies() == [ONE]
    for _ in range(3):
        first.now_ms += 60_000
        assert sorted(first.copies()) == [ONE, TWO]  # To both peers: neither has answered.
        assert left(node) == (ONE, [FIRST, SECOND])
    second.answer(Status.KNOWN)
    first.answer(Status.KNOWN)
    assert left(node) == (0, [])


@pytest.mark.parametrize("knows", [None, MESSAGE])
def test_of_what_is_under_way_the_answer_decides(knows: ItemId | None) -> None:
    """A second summary in the same session was perhaps made before the copy came."""
    _, node, first = given_two()
    first.summarise(5, knows, number=LINK_NUMBER + 8)
    assert left(node) == (TWO, [FIRST])
    first.now_ms += 60_000
    assert first.copies() == [TWO]
    first.answer(Status.STORED)
    assert left(node) == (TWO, [])


def test_a_part_of_a_summary_decides_about_its_own_origins() -> None:
    _, node, first = given_two()
    first.leave()
    again = Meeting(node, FIRST, 2_000, last=100)
    assert left(node) == (TWO, [FIRST])
    again.summarise(5, None, number=LINK_NUMBER + 8, first=101)
    assert left(node) == (TWO, [FIRST])


def test_a_returned_copy_goes_whole_to_another_peer_in_contact() -> None:
    _, node, first = given_two()
    second, third = Meeting(node, SECOND, 1_300), Meeting(node, 13, 1_300)
    assert second.copies() == [ONE]
    assert third.copies() == []
    first.answer(Status.KNOWN)
    assert third.copies() == [TWO]
    assert left(node) == (ONE, [SECOND, 13])


@pytest.mark.parametrize("parts", [1, 2])
def test_a_returned_copy_is_not_offered_to_a_mediator_that_has_the_message(parts: int) -> None:
    """Its summary did, and so did ours: neither named it as a difference."""
    _, node, first = given_two()
    first.leave()
    first = Meeting(node, FIRST, 2_000, session=6, knows=MESSAGE, last=100 if parts > 1 else LAST_NODE)
    if parts > 1:
        first.summarise(6, None, number=LINK_NUMBER + 8, first=101)
    second = Meeting(node, SECOND, 2_000)
    assert second.copies() == [ONE]
    second.answer(Status.KNOWN)
    assert left(node) == (TWO, [])
    assert second.copies() == []
    third = Meeting(node, 13, 3_000, last=100 if parts > 1 else LAST_NODE)
    if parts > 1:
        third.summarise(5, None, number=LINK_NUMBER + 8, first=101)
    assert third.copies() == [ONE]


def test_what_a_later_part_of_a_summary_lacks_is_offered() -> None:
    store = MemoryStore()
    node = mediator(store)
    ScriptedPeer(node, PUBLISHER, Role.PUBLISHER).send(notification())
    peer = Meeting(node, FIRST, 1_000, last=PUBLISHER - 1)
    assert peer.copies() == []
    peer.summarise(5, None, number=LINK_NUMBER + 8, first=PUBLISHER)
    assert peer.copies() == [TWO]
    other = Meeting(node, SECOND, 2_000, last=PUBLISHER - 1)
    other.summarise(5, None, number=LINK_NUMBER + 8, first=PUBLISHER)
    third = Meeting(node, 13, 2_000, last=PUBLISHER - 1)
    third.summarise(5, None, number=LINK_NUMBER + 8, first=PUBLISHER)
    assert other.copies() == [ONE]
    peer.now_ms = 2_300
    peer.answer(Status.NO_ROOM)
    assert third.copies() == [TWO], "a returned copy goes to whoever lacked the message in any part"


def test_reservations_go_with_their_message() -> None:
    store, node, first = given_two()
    node.expire(10**9)
    assert MESSAGE not in node.state.items
    assert node.context.durable.reservations.by_item == {}
    node.contact_opened(99, 10**9)
    node.datagrams_to_send(10**9)
    assert mediator(store.crash(), 10**9).context.durable.reservations.by_item == {}
    assert first.now_ms < 10**9


@pytest.mark.parametrize("is_crashed", [False, True])
def test_known_means_that_another_peer_delivered_the_message(is_crashed: bool) -> None:
    store = MemoryStore()
    node = mediator(store)
    first = Meeting(node, FIRST, 0)
    first.send(notification(TWO))
    assert first.answers() == [Status.STORED]
    node = begun_again(store, node, is_crashed, 1_000)
    for meeting in (Meeting(node, FIRST, 1_000), Meeting(node, SECOND, 1_000)):
        for code in (ONE, TWO):
            meeting.send(notification(code))
        is_certain = meeting.node == SECOND and not is_crashed
        assert set(meeting.answers()) == {Status.KNOWN if is_certain else Status.STORED}


def published() -> tuple[MemoryStore, PublisherEndpoint, ItemId]:
    store = MemoryStore()
    end = publisher(store)
    message = end.publish(LANGUAGE, bytes((5, 90)), HOUR_Q, 0)
    return store, end, message


def publisher(store: MemoryStore, now_ms: int = 0) -> PublisherEndpoint:
    return PublisherEndpoint(PUBLISHER, Mission(7), store, now_ms, filter_host=TopicHost())


@pytest.mark.parametrize("is_crashed", [False, True])
@pytest.mark.parametrize("status", [None, *Status])
def test_a_publisher_gives_its_budget_to_one_mediator(status: Status | None, is_crashed: bool) -> None:
    store, end, message = published()
    first = Meeting(end, FIRST, 0, note=COUNTED)
    assert first.copies() == [0]
    if status is not None:
        first.answer(status, message)
        end.datagrams_to_send(first.now_ms)
    first.leave()
    if is_crashed:
        end = publisher(store.crash(), 1_000)
    takes = Meeting(end, SECOND, 1_000, note=COUNTED).copies() == [0]
    assert takes is (status not in (None, Status.STORED, Status.KNOWN))


@pytest.mark.parametrize("is_crashed", [False, True])
@pytest.mark.parametrize(
    ("session", "knows", "is_returned"), [(5, False, False), (6, False, True), (6, True, False)]
)
def test_the_next_summary_decides_about_a_publishers_budget(
    session: int, knows: bool, is_returned: bool, is_crashed: bool
) -> None:
    store, end, message = published()
    first = Meeting(end, FIRST, 0, note=COUNTED)
    assert first.copies() == [0]
    first.leave()
    if is_crashed:
        end = publisher(store.crash(), 1_000)
    Meeting(end, FIRST, 1_000, session=session, knows=message if knows else None, note=COUNTED).leave()
    assert (Meeting(end, SECOND, 2_000, note=COUNTED).copies() == [0]) is is_returned


keys = st.tuples(st.integers(0, LAST_NODE), st.integers(0, LINK_NUMBER - 1), st.integers(0, LAST_NODE))


@given(
    st.dictionaries(
        keys,
        st.builds(
            Reservation,
            st.integers(0, 7),
            st.integers(0, 7),
            st.integers(0, (1 << 32) - 1),
            st.booleans(),
        ),
        max_size=8,
    )
)
def test_a_store_keeps_reservations(held: dict[tuple[int, int, int], Reservation]) -> None:
    """Also at the ends of the domains of nodes, numbers and sessions."""
    book, again = Reservations(), Reservations()
    for (origin, number, peer), reservation in held.items():
        book.put(item_id(origin, number), peer, reservation)
        again.restore(row_key(item_id(origin, number), peer), reservation.encode())
    for (origin, number, peer), reservation in held.items():
        found = again.by_item[item_id(origin, number)][peer]
        assert found.encode() == reservation.encode()
        assert found.is_settled is reservation.is_settled
        is_sent = any(one == item_id(origin, number) for one, _ in again.sent_to(peer))
        assert is_sent is not reservation.is_settled
    assert again.by_item.keys() == book.by_item.keys()
    for message in list(again.by_item):
        for peer in again.peers_of(message):
            again.remove(message, peer)
    assert again.by_item == {}
    assert all(again.sent_to(peer) == [] for _, _, peer in held)
