"""What counts as a sign of a peer's life: its own messages, received for the first time in this contact."""

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.protocol import Datagram
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import BATCH, HELLO, NOTIFICATION
from emulation.fault_injection.topics import LANGUAGE, TOPICS, TopicDirectory, TopicHost

NODE, BOARD = 1, 7
KEY = b"mission"


def a_contact(
    rounds: int = 20,
) -> tuple[DensNode, PublisherEndpoint, list[tuple[bytes, bool]], list[Datagram]]:
    """Let a publisher and a node talk; return what the node received, with its verdict, and what it sent."""
    node = DensNode(
        NODE, Mission(7, {LANGUAGE: TOPICS}, key=KEY), MemoryStore(), 0, directory=TopicDirectory()
    )
    board = PublisherEndpoint(BOARD, Mission(7, key=KEY), MemoryStore(), 0, filter_host=TopicHost())
    node.contact_opened(BOARD, 0)
    board.contact_opened(NODE, 0)
    for value in range(3):
        board.publish(LANGUAGE, bytes((1, value)), 95, 0)
    heard: list[tuple[bytes, bool]] = []
    said: list[Datagram] = []
    for step in range(rounds):
        if step == rounds // 2:
            board.publish(LANGUAGE, bytes((1, 3)), 95, 100 * step)
        for datagram in board.datagrams_to_send(100 * step):
            heard.append((datagram.data, node.receive(datagram.data, BOARD, 100 * step)))
        for datagram in node.datagrams_to_send(100 * step):
            said.append(datagram)
            board.receive(datagram.data, NODE, 100 * step)
    return node, board, heard, said


def talk(node: DensNode, board: PublisherEndpoint) -> None:
    """Let the two talk for two seconds."""
    for now_ms in range(2_000, 4_000, 100):
        for datagram in board.datagrams_to_send(now_ms):
            if datagram.peer == NODE:
                node.receive(datagram.data, BOARD, now_ms)
        for datagram in node.datagrams_to_send(now_ms):
            board.receive(datagram.data, NODE, now_ms)


def test_what_a_peer_says_first_is_news_and_no_repetition_of_it_is() -> None:
    node, _, heard, said = a_contact()
    assert node.notification_count == 4
    kinds = {data[1] for data, is_news in heard if is_news}
    assert kinds == {HELLO, BATCH, NOTIFICATION}, "of every kind something is news"
    for now_ms in (2_000, 20_000):
        assert not any(node.receive(data, BOARD, now_ms) for data, _ in heard)
        assert not any(node.receive(datagram.data, BOARD, now_ms) for datagram in said), "our own words"


def test_nothing_of_an_earlier_contact_is_news_but_a_hello() -> None:
    node, _, heard, _ = a_contact()
    node.contact_opened(BOARD, 3_000)
    assert {data[1] for data, _ in heard if node.receive(data, BOARD, 3_000)} <= {1}


def test_nothing_without_a_tag_is_news() -> None:
    node, _, heard, _ = a_contact()
    node.contact_opened(BOARD, 3_000)
    for data, _ in heard:
        assert not node.receive(bytes((data[0] & ~8,)) + data[1:-8], BOARD, 3_000)
        assert not node.receive(data[:-1] + bytes((data[-1] ^ 1,)), BOARD, 3_000)


def test_a_hello_that_was_recorded_in_another_contact_ends_none_that_is_understood() -> None:
    """It verifies, because a hello is tied to no contact, and its session is newer: the node tagged what it
    sent for a session that the board never had with it, and nothing was understood until the next greeting.
    """
    node, board, _, _ = a_contact()
    board.contact_opened(2, 2_000)
    [recorded] = [datagram.data for datagram in board.datagrams_to_send(2_000) if datagram.peer == 2]
    assert not node.receive(recorded, BOARD, 2_000)
    made = board.publish(LANGUAGE, b"\1\1", 95, 2_000)
    talk(node, board)
    assert board.is_taken(made)


def test_peer_restarted_within_a_contact_is_understood_after_the_handshake() -> None:
    node, board, _, _ = a_contact()
    board.contact_opened(NODE, 2_000)
    made = board.publish(LANGUAGE, b"\1\1", 95, 2_000)
    talk(node, board)
    assert board.is_taken(made)
