"""PUB/DENS on a board: the bytes are the overlay's, and a real DENS node understands what it says."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.authentication import Authenticator
from dens.envelope import pack, read_header
from dens.events import Event, MessageAcknowledged, MessageRefused, NotificationDelivered
from dens.item import Item
from dens.machine import ProtocolMachine
from dens.messages import Hello, SummaryMessage
from dens.node import DensNode
from dens.numbers import LINK_NUMBER, Role
from dens.stores.memory import MemoryStore
from dens.subscriber import SubscriberEnd
from knowledge_manager.distributed_dictionary import DistributedDataDictionary
from knowledge_manager.mission_table import load_mission_table
from plugins.registry import languages
from watchdog.authentication import Authenticator as BoardAuthenticator
from watchdog.filter import FuzzyFilter
from watchdog.numbers import Numbers
from watchdog.pool import Pool
from watchdog.publisher import Publisher
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


class Mission:
    """A subscriber, a DENS node and a board, with a link of one millisecond that may lose anything."""

    def __init__(
        self, board: Board, key: bytes | None = None, loses: Callable[[], bool] = lambda: False
    ) -> None:
        known = languages()
        self.now_ms = 5_000
        self.board = board
        self.loses = loses
        self.mediator = DensNode(
            MEDIATOR,
            TABLE.check,
            MemoryStore(),
            0,
            matchers={n: lambda language=language: language.matcher(TABLE) for n, language in known.items()},  # type: ignore[misc]
            directory=DistributedDataDictionary(
                {n: language.lookup(TABLE).question for n, language in known.items()}, table=TABLE
            ),
            authenticator=Authenticator(MEDIATOR, key),
        )
        self.subscriber = SubscriberEnd(
            SUBSCRIBER, TABLE.check, MemoryStore(), 0, authenticator=Authenticator(SUBSCRIBER, key)
        )
        self.machines: dict[int, ProtocolMachine] = {MEDIATOR: self.mediator, SUBSCRIBER: self.subscriber}
        self.events: list[Event] = []
        self.mediator.contact_opened(SUBSCRIBER, self.now_ms)
        self.subscriber.contact_opened(MEDIATOR, self.now_ms)
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

    def link(kind: int, number: int, payload: bytes, session: int) -> bytes:
        body = pack(Item(kind, 0, BOARD, number | LINK_NUMBER, 0, 0, 0, payload), TABLE.check, 0, 0, flags)
        return body + authenticator.tag(body, session)

    def from_mediator(kind: int, number: int, payload: bytes, session: int) -> bytes:
        body = pack(Item(kind, 0, MEDIATOR, number | LINK_NUMBER, 0, 0, 0, payload), TABLE.check, 0, 0, flags)
        return body + mediator.tag(body, session)

    assert board.step(10) == [link(1, 2, Hello(Role.PUBLISHER, 1, 0).encode(), 0)]
    assert board.step(500) == []
    board.hear(from_mediator(1, 77, Hello(Role.MEDIATOR, 9, 1).encode(), 0), 600)
    summary = SummaryMessage(Hello(Role.PUBLISHER, 1, 9), b"", b"").encode()
    assert board.step(600) == [link(2, 3, summary, 9)]
    board.hear(
        from_mediator(3, 78, (BOARD).to_bytes(4, "big") + (3 | LINK_NUMBER).to_bytes(4, "big") + b"\x00", 1),
        610,
    )
    board.hear(from_mediator(2, 79, SummaryMessage(Hello(Role.MEDIATOR, 9, 1), b"", b"").encode(), 1), 620)
    acknowledgement = (MEDIATOR).to_bytes(4, "big") + (79 | LINK_NUMBER).to_bytes(4, "big") + b"\x00"
    filled = EXTRACT[:1] + (2).to_bytes(4, "big") + EXTRACT[5:]
    announcement = pack(Item(32, 0, BOARD, 1, 0, 168, 0, filled), TABLE.check, 630, 1, flags)
    assert board.step(630) == [
        link(3, 4, acknowledgement, 9),
        announcement + authenticator.tag(announcement, 9),
    ]
    board.hear(from_mediator(3, 80, (BOARD).to_bytes(4, "big") + (1).to_bytes(4, "big") + b"\x00", 1), 640)
    assert board.step(640) == []
    board.publisher.publish(NOTIFICATION, len(NOTIFICATION), 700)
    notification = pack(Item(35, 1, BOARD, 3, 0, NOTIFICATION[2], 0, NOTIFICATION), TABLE.check, 50, 1, flags)
    assert board.step(750) == [notification + authenticator.tag(notification, 9)]
    assert board.publisher.refused == 0


@pytest.mark.parametrize("key", [None, b"mission"])
@pytest.mark.parametrize("small", [False, True])
def test_a_notification_reaches_the_one_who_asked(tmp_path: Path, key: bytes | None, small: bool) -> None:
    board = Board(tmp_path, key, small)
    mission = Mission(board, key)
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
    mission = Mission(board, None, lambda: chance.random() < 0.4)
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


def test_a_board_that_restarts_is_told_again_and_heard_again(tmp_path: Path) -> None:
    mission = Mission(Board(tmp_path))
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
    mission = Mission(board)
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
    mission = Mission(board)
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
    board.hear(bytes([48, 1, 0, TABLE.check, 0, 0, 0, 2, 128]) + noise, 10)
    for kind in (1, 2, 3, 33, 34, 35):
        board.hear(bytes([32, kind, 1, TABLE.check, 0, 0, 0, 2, 0]) + noise, 10)
    after = vars(board.publisher)
    assert after["refused"] > 0
    if sealed:
        assert {k: v for k, v in after.items() if k != "refused"} == {
            k: v for k, v in before.items() if k != "refused"
        }


def test_other_missions_and_mediators_are_kept_apart(tmp_path: Path) -> None:
    board = Board(tmp_path)
    mission = Mission(board)
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


def test_a_clock_that_jumps_back_keeps_it_speaking(tmp_path: Path) -> None:
    board = Board(tmp_path)
    assert len(board.step(100_000)) == 1
    assert len(board.step(50)) == 1
    assert board.step(60) == []
    mission = Mission(board)
    mission.run(1_200)
    board.publisher.publish(NOTIFICATION, len(NOTIFICATION), mission.now_ms + 99_999)
    mission.run(1_200)
    ages = [read_header(bytes(message)).age_ms for message in board.publisher.outbox[1:]]
    assert ages == []
    assert mission.mediator.notification_count == 1
