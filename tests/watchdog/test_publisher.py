"""PUB/DENS on a board: the bytes are the overlay's, and a real DENS node understands what it says."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import (
    DatagramRefused,
    Event,
    MessageAcknowledged,
    MessageRefused,
    NotificationDelivered,
)
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.protocol import ProtocolEngine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.authentication import EVERYONE, Authenticator
from dens.overlay.wire.codes import LINK_NUMBER, Role
from dens.overlay.wire.envelope import pack, read_header
from dens.overlay.wire.item import Item
from dens.overlay.wire.messages import Hello, SummaryMessage
from knowledge_manager.dictionary.distributed import DistributedDataDictionary
from knowledge_manager.mission_table import load_mission_table
from plugins.registry import languages
from watchdog.authentication import Authenticator as BoardAuthenticator
from watchdog.filter import FuzzyFilter
from watchdog.numbers import Numbers
from watchdog.pool import Pool
from watchdog.publisher import LOYAL_MS, Publisher
from watchdog.scan import Scan
from watchdog.small_host import SmallHost
from watchdog.watchdog import Watchdog

TABLE = load_mission_table(["weather"])
BOARD, MEDIATOR, SUBSCRIBER = 4, 2, 1
EXTRACT = bytes.fromhex("1000000000a80101070500")
WARM = bytes.fromhex("01005f0000d0") + bytes([100, 150, 120]) + bytes([2, 1])
NOTIFICATION = bytes.fromhex("000a5f0002f0780201")


class Board:
    """A board's publisher whose link is a list."""

    def __init__(self, folder: Path, key: bytes | None = None, small: bool = False, room: int = 8) -> None:
        pool = Pool(1, 5 + 22 * 4, 2)
        if small:
            self.host: SmallHost | Watchdog = SmallHost(pool, Scan(pool, False, 95, None))
        else:
            self.host = Watchdog({1: FuzzyFilter(pool=pool)})
        out = bytearray(160)
        out[3] = TABLE.check
        out[7] = BOARD
        self.said: list[bytes] = []
        authenticator = None if key is None else BoardAuthenticator(BOARD, key)
        numbers = Numbers(str(folder / "n"))
        self.publisher = Publisher(
            out, self.host, numbers, lambda b, n: self.said.append(bytes(b[:n])), authenticator, room
        )
        self.publisher.begin()
        self.publisher.publish(EXTRACT, len(EXTRACT), 0)

    def hear(self, datagram: bytes, now_ms: int) -> None:
        self.publisher.receive(datagram, len(datagram), now_ms)

    def step(self, now_ms: int) -> list[bytes]:
        self.publisher.step(now_ms)
        said, self.said[:] = list(self.said), []
        return said


class BoardMission:
    """A subscriber, a DENS node and a board, with a link of one millisecond that may lose anything."""

    def __init__(
        self,
        board: Board,
        key: bytes | None = None,
        loses: Callable[[], bool] = lambda: False,
        number: int = MEDIATOR,
    ) -> None:
        known = languages()
        self.now_ms = 5_000
        self.board = board
        self.loses = loses
        self.number = number
        self.mediator = DensNode(
            number,
            Mission(TABLE.check, {n: language.bind(TABLE) for n, language in known.items()}, key=key),
            MemoryStore(),
            0,
            directory=DistributedDataDictionary(
                {n: language.lookup(TABLE).question for n, language in known.items()}, table=TABLE
            ),
        )
        self.subscriber = SubscriberEndpoint(SUBSCRIBER, Mission(TABLE.check, key=key), MemoryStore(), 0)
        self.machines: dict[int, ProtocolEngine] = {number: self.mediator, SUBSCRIBER: self.subscriber}
        self.events: list[Event] = []
        self.mediator.contact_opened(SUBSCRIBER, self.now_ms)
        self.subscriber.contact_opened(number, self.now_ms)
        self.mediator.contact_opened(BOARD, self.now_ms)

    def run(self, for_ms: int) -> None:
        end_ms = self.now_ms + for_ms
        while self.now_ms < end_ms:
            under_way = [
                (n, out) for n, m in self.machines.items() for out in m.datagrams_to_send(self.now_ms)
            ]
            from_board = self.board.step(self.now_ms)
            self.now_ms += 1
            for number, out in under_way:
                if out.peer != BOARD:
                    self.machines[out.peer].receive(out.data, number, self.now_ms)
                elif not self.loses():
                    self.board.hear(out.data, self.now_ms)
            for datagram in from_board:
                if not self.loses():
                    self.mediator.receive(datagram, BOARD, self.now_ms)
            for machine in self.machines.values():
                timer = machine.next_timer_ms()
                if timer is not None and timer <= self.now_ms:
                    machine.timer_due(self.now_ms)
                while (event := machine.next_event()) is not None:
                    self.events.append(event)

    def delivered(self) -> list[bytes]:
        return [e.item.payload for e in self.events if isinstance(e, NotificationDelivered)]


def held(board: Board) -> int:
    return board.host.pool.count if isinstance(board.host, SmallHost) else board.host.interested()


@pytest.mark.parametrize("key", [None, b"mission"])
def test_what_it_says_is_what_the_overlay_would_say(tmp_path: Path, key: bytes | None) -> None:
    board = Board(tmp_path, key)
    flags = 8 if key else 0
    authenticator, mediator = Authenticator(BOARD, key), Authenticator(MEDIATOR, key)

    def tagged(body: bytes, receiver: int = MEDIATOR, session: int = 9) -> bytes:
        return body + authenticator.tag(body, Role.PUBLISHER, receiver, session)

    def link(kind: int, number: int, payload: bytes) -> bytes:
        return pack(Item(kind, 0, BOARD, number | LINK_NUMBER, 0, 0, 0, payload), TABLE.check, 0, 0, flags)

    def from_mediator(kind: int, number: int, payload: bytes) -> bytes:
        body = pack(Item(kind, 0, MEDIATOR, number | LINK_NUMBER, 0, 0, 0, payload), TABLE.check, 0, 0, flags)
        return body + mediator.tag(body, Role.MEDIATOR, BOARD, 0 if kind == 1 else 1)

    assert board.step(10) == [tagged(link(1, 2, Hello(Role.PUBLISHER, 1, 0).encode()), EVERYONE, 0)]
    assert board.step(500) == []
    board.hear(from_mediator(1, 76, Hello(Role.MEDIATOR, 9, 0).encode()), 590)
    assert board.step(590) == [tagged(link(1, 3, Hello(Role.PUBLISHER, 1, 9).encode()), MEDIATOR, 0)]
    board.hear(from_mediator(1, 77, Hello(Role.MEDIATOR, 9, 1).encode()), 595)
    assert board.step(595) == []
    board.hear(from_mediator(2, 78, SummaryMessage(Hello(Role.MEDIATOR, 9, 1), b"", b"").encode()), 600)
    acknowledgement = (MEDIATOR).to_bytes(4, "big") + (78 | LINK_NUMBER).to_bytes(4, "big") + b"\x00"
    summary = SummaryMessage(Hello(Role.PUBLISHER, 1, 9), b"", b"").encode()
    assert board.step(600) == [tagged(link(3, 4, acknowledgement)), tagged(link(2, 5, summary))]
    board.hear(
        from_mediator(3, 79, (BOARD).to_bytes(4, "big") + (5 | LINK_NUMBER).to_bytes(4, "big") + b"\x00"),
        610,
    )
    filled = EXTRACT[:1] + (2).to_bytes(4, "big") + EXTRACT[5:]
    announcement = pack(Item(32, 0, BOARD, 1, 0, 168, 0, filled), TABLE.check, 630, 1, flags)
    assert board.step(630) == [tagged(announcement)]
    board.hear(from_mediator(1, 80, Hello(Role.MEDIATOR, 12, 0).encode()), 635)
    assert board.step(635) == [tagged(link(1, 6, Hello(Role.PUBLISHER, 1, 12).encode()), MEDIATOR, 0)]
    board.hear(from_mediator(3, 81, (BOARD).to_bytes(4, "big") + (1).to_bytes(4, "big") + b"\x00"), 640)
    assert board.step(640) == []
    board.publisher.publish(NOTIFICATION, len(NOTIFICATION), 700)
    notification = pack(Item(35, 1, BOARD, 3, 0, NOTIFICATION[2], 0, NOTIFICATION), TABLE.check, 50, 1, flags)
    assert board.step(750) == [tagged(notification)]
    assert board.publisher.refused == 0


@pytest.mark.parametrize("key", [None, b"mission"])
@pytest.mark.parametrize("small", [False, True])
def test_notification_reaches_its_subscriber(tmp_path: Path, key: bytes | None, small: bool) -> None:
    board = Board(tmp_path, key, small)
    mission = BoardMission(board, key)
    mission.subscriber.subscribe(WARM, 1, mission.now_ms)
    mission.run(300)
    assert held(board) == 1
    board.publisher.publish(NOTIFICATION, len(NOTIFICATION), mission.now_ms)
    mission.run(300)
    assert mission.delivered() == [NOTIFICATION]
    mission.subscriber.unsubscribe(1, mission.now_ms)
    mission.run(300)
    assert held(board) == 0
    assert [e for e in mission.events if isinstance(e, MessageRefused)] == []
    assert board.publisher.refused == board.publisher.dropped == 0


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_whatever_the_link_loses_everything_arrives(tmp_path_factory, seed: int, small: bool) -> None:
    chance = random.Random(seed)
    board = Board(tmp_path_factory.mktemp("board"), None, small)
    mission = BoardMission(board, None, lambda: chance.random() < 0.4)
    mission.subscriber.subscribe(WARM, 1, mission.now_ms)
    expected = []
    mission.run(40_000)
    for number in range(3):
        vector = bytes([0, number]) + NOTIFICATION[2:]
        board.publisher.publish(vector, len(vector), mission.now_ms)
        expected.append(vector)
        mission.run(2_000)
    mission.run(40_000)
    assert sorted(mission.delivered()) == expected
    assert len(board.publisher.outbox) == 1


def test_restarted_board_gets_installs_again_and_is_heard_again(tmp_path: Path) -> None:
    mission = BoardMission(Board(tmp_path))
    mission.subscriber.subscribe(WARM, 1, mission.now_ms)
    mission.run(300)
    mission.board.publisher.publish(NOTIFICATION, len(NOTIFICATION), mission.now_ms)
    mission.run(300)
    mission.board = Board(tmp_path)
    mission.run(2_500)
    assert held(mission.board) == 1
    again = b"\x01" + NOTIFICATION[1:]
    mission.board.publisher.publish(again, len(again), mission.now_ms)
    mission.run(1_500)
    assert mission.delivered() == [NOTIFICATION, again]


def test_a_withdrawal_made_while_apart_reaches_a_board_that_names_its_origins(tmp_path: Path) -> None:
    board = Board(tmp_path)
    mission = BoardMission(board)
    mission.subscriber.subscribe(WARM, 1, mission.now_ms)
    mission.run(300)
    mission.mediator.contact_lost(BOARD, mission.now_ms)
    mission.subscriber.unsubscribe(1, mission.now_ms)
    mission.run(300)
    assert held(board) == 1
    mission.mediator.contact_opened(BOARD, mission.now_ms)
    board.publisher.begin()
    mission.run(2_500)
    assert held(board) == 0


def test_what_does_not_fit_is_refused_with_a_reason_and_nothing_goes(tmp_path: Path) -> None:
    board = Board(tmp_path, small=True)
    mission = BoardMission(board)
    for number in range(7):
        mission.subscriber.subscribe(bytes([number]) + WARM[1:], 1, mission.now_ms)
    wide = bytes([9]) + WARM[1:6] + bytes([0, 255, 120] * 2) + bytes([2, 3])
    for number in range(9, 20):
        mission.subscriber.subscribe(bytes([number]) + wide[1:], 1, mission.now_ms)
    mission.run(900)
    answers = [e.reason for e in mission.events if isinstance(e, MessageAcknowledged) and e.item.type == 33]
    assert answers.count(None) == held(board) > 6
    assert set(answers) == {None, "no_room"}


def test_a_full_outbox_loses_its_oldest_and_counts(tmp_path: Path) -> None:
    board = Board(tmp_path, room=3)
    for number in range(5):
        board.publisher.publish(bytes([number]) + NOTIFICATION[1:], len(NOTIFICATION), 0)
    assert board.publisher.dropped == 2
    assert [message[18] for message in board.publisher.outbox[1:]] == [2, 3, 4]
    assert board.publisher.outbox[0][1] == 32


@given(st.binary(max_size=120), st.booleans())
def test_garbage_is_refused_and_counted(tmp_path_factory, noise: bytes, sealed: bool) -> None:
    board = Board(tmp_path_factory.mktemp("board"), b"key" if sealed else None)
    board.step(0)
    before = dict(vars(board.publisher))
    board.hear(noise, 10)
    board.hear(bytes([64, 1, 0, TABLE.check, 0, 0, 0, 2, 128]) + noise, 10)
    for kind in (1, 2, 3, 33, 34, 35):
        board.hear(bytes([64, kind, 1, TABLE.check, 0, 0, 0, 2, 0]) + noise, 10)
    after = vars(board.publisher)
    assert after["refused"] > 0
    if sealed:
        assert {k: v for k, v in after.items() if k != "refused"} == {
            k: v for k, v in before.items() if k != "refused"
        }


def test_other_missions_and_mediators_are_kept_apart(tmp_path: Path) -> None:
    board = Board(tmp_path)
    mission = BoardMission(board)
    mission.subscriber.subscribe(WARM, 1, mission.now_ms)
    stranger = pack(
        Item(1, 0, 9, 5 | LINK_NUMBER, 0, 0, 0, Hello(2, 5, 0).encode()), TABLE.check ^ 1, 0, 0, 0
    )
    board.hear(stranger, 0)
    assert (board.publisher.refused, board.publisher.peer) == (1, -1)
    subscriber = pack(Item(1, 0, 9, 5 | LINK_NUMBER, 0, 0, 0, Hello(1, 5, 0).encode()), TABLE.check, 0, 0, 0)
    board.hear(subscriber, 0)
    assert (board.publisher.refused, board.publisher.peer) == (2, -1)
    mission.run(300)
    assert held(board) == 1


OTHER = 9
"""Another mediator, or another receiver of the mediator's frames."""


def hello_to(machine: DensNode, peer: int, now_ms: int) -> bytes:
    """Return the HELLO with which a mediator begins a new contact with this peer."""
    machine.contact_opened(peer, now_ms)
    found: list[bytes] = []
    for at_ms in (now_ms, now_ms + 1_000):
        found += [d.data for d in machine.datagrams_to_send(at_ms) if d.peer == peer and d.data[1] == 1]
    machine.contact_lost(peer, now_ms + 1_000)
    return found[0]


def recorded_hellos(board: Board) -> dict[str, bytes]:
    """Return HELLOs that an attacker can record, all of them authentic."""
    earlier = BoardMission(board, b"mission")
    earlier.run(300)
    later = hello_to(earlier.mediator, OTHER, earlier.now_ms)
    again = hello_to(earlier.mediator, BOARD, earlier.now_ms)
    other = BoardMission(board, b"mission", number=OTHER)
    return {
        "other receiver": later,
        "other contact": again,
        "other mediator": hello_to(other.mediator, BOARD, 9_000),
    }


@pytest.mark.parametrize("kind", ["other receiver", "other contact", "other mediator"])
def test_replayed_hello_silences_no_board(tmp_path: Path, kind: str) -> None:
    """A board once took any authentic HELLO for a new session of its mediator: 48 of 120 notifications
    arrived.
    """
    recorded = recorded_hellos(Board(tmp_path, b"mission"))[kind]
    board = Board(tmp_path, b"mission")
    mission = BoardMission(board, b"mission")
    mission.subscriber.subscribe(WARM, 1, mission.now_ms)
    mission.run(1_000)
    expected = []
    for number in range(120):
        vector = bytes([0, number]) + NOTIFICATION[2:]
        board.publisher.publish(vector, len(vector), mission.now_ms)
        expected.append(vector)
        mission.run(250)
        if number % 6 == 5:
            board.hear(recorded, mission.now_ms)
    mission.run(2_000)
    assert len(mission.delivered()) == 120
    assert mission.delivered() == expected
    assert board.publisher.dropped == 0
    refusals = [e for e in mission.events if isinstance(e, DatagramRefused)]
    assert refusals == []


def frames_to_board(mission: BoardMission, for_ms: int) -> list[bytes]:
    """Run a mission and return what its board was sent meanwhile."""
    heard: list[bytes] = []
    hear = mission.board.hear

    def recording(datagram: bytes, now_ms: int) -> None:
        heard.append(datagram)
        hear(datagram, now_ms)

    mission.board.hear = recording  # type: ignore[method-assign]
    mission.run(for_ms)
    mission.board.hear = hear  # type: ignore[method-assign]
    return heard


def test_replayed_datagrams_do_not_keep_a_peer_alive(tmp_path: Path) -> None:
    board = Board(tmp_path, b"mission")
    mission = BoardMission(board, b"mission")
    mission.subscriber.subscribe(WARM, 1, mission.now_ms)
    board.publisher.publish(NOTIFICATION, len(NOTIFICATION), mission.now_ms)
    recorded = frames_to_board(mission, 2_000)
    assert {frame[1] for frame in recorded} == {1, 2, 3, 33}
    publisher = board.publisher
    before = (publisher.heard_ms, publisher.heard_number, publisher.session, publisher.peer_session)
    publisher.publish(NOTIFICATION, len(NOTIFICATION), 60_000)
    for now_ms in range(60_000, 90_000, 500):
        for frame in recorded:
            board.hear(frame, now_ms)
        board.step(now_ms)
    after = (publisher.heard_ms, publisher.heard_number, publisher.session, publisher.peer_session)
    assert after == before
    assert publisher.tries > 16, "a mediator that is gone is given up, whatever is replayed"


def test_another_mediator_does_not_replace_one_that_answers(tmp_path: Path) -> None:
    board = Board(tmp_path, b"mission")
    mission = BoardMission(board, b"mission")
    mission.run(1_000)
    other = BoardMission(board, b"mission", number=OTHER)
    for _ in range(4):
        session, tries = bytes(board.publisher.session), board.publisher.tries
        mission.run(LOYAL_MS + 2_000)
        greeting = hello_to(other.mediator, BOARD, mission.now_ms)
        for _ in range(40):
            board.hear(greeting, mission.now_ms)
            mission.run(20)
        assert (board.publisher.peer, bytes(board.publisher.session)) == (MEDIATOR, session)
        assert mission.now_ms - board.publisher.heard_ms < 1_000, "it was queried, and has answered"
        assert board.publisher.tries == tries
    assert [event for event in mission.events if isinstance(event, DatagramRefused)] == []


def test_another_mediator_replaces_one_that_is_gone(tmp_path: Path) -> None:
    board = Board(tmp_path, b"mission")
    BoardMission(board, b"mission").run(1_000)
    assert board.publisher.peer == MEDIATOR
    other = BoardMission(board, b"mission", number=OTHER)
    other.now_ms = 60_000
    other.subscriber.subscribe(WARM, 1, other.now_ms)
    for _ in range(40):
        other.run(1_000)
        if board.publisher.tries > 16:
            board.publisher.begin()  # what the board's program does
    assert (board.publisher.peer, held(board)) == (OTHER, 1)


@pytest.mark.parametrize("key", [None, b"mission"])
def test_board_finds_a_mediator_that_restarted(tmp_path: Path, key: bytes | None) -> None:
    board = Board(tmp_path, key)
    BoardMission(board, key).run(1_000)
    again = BoardMission(board, key)
    again.mediator.contact_opened(BOARD, again.now_ms)  # with a session that the board has not seen
    again.subscriber.subscribe(WARM, 1, again.now_ms)
    again.run(4_000)
    board.publisher.publish(NOTIFICATION, len(NOTIFICATION), again.now_ms)
    again.run(2_000)
    assert (again.delivered(), held(board)) == ([NOTIFICATION], 1)


def test_a_clock_that_jumps_back_keeps_it_speaking(tmp_path: Path) -> None:
    board = Board(tmp_path)
    assert len(board.step(100_000)) == 1
    assert len(board.step(50)) == 1
    assert board.step(60) == []
    mission = BoardMission(board)
    mission.run(1_200)
    board.publisher.publish(NOTIFICATION, len(NOTIFICATION), mission.now_ms + 99_999)
    mission.run(1_200)
    ages = [read_header(bytes(message)).age_ms for message in board.publisher.outbox[1:]]
    assert ages == []
    assert mission.mediator.notification_count == 1
