"""What a board needs to speak: frames, numbers, tags, the clock, the publisher; and what bad input does."""

from watchdog.authentication import Authenticator
from watchdog.clock import Clock
from watchdog.codes import FULL, INSTALLED, OVER, STALE, UNKNOWN_LANGUAGE
from watchdog.filter import FuzzyFilter
from watchdog.frames import Deframer, write_frame
from watchdog.pool import Pool
from watchdog.publisher import Publisher
from watchdog.scan import Scan
from watchdog.small_host import SmallHost
from watchdog.watchdog import Watchdog

VECTOR = b"\x01\x00\x64\x00\x00\xd0\x64\x96\x78\x02\x01"


class MemoryNumbers:
    """Numbers without a file."""

    def __init__(self):
        self.rows = [1, 1]

    def write(self, row, b, at):
        for i in range(4):
            b[at + i] = self.rows[row] >> 24 - 8 * i & 255
        self.rows[row] += 1


def board(authenticator=None, host=None):
    """Return a publisher and the list of what it says."""
    said = []
    out = bytearray(160)
    out[3] = 156
    out[7] = 7
    pool = Pool(1, 5 + 14 * 2, 1)
    host = host or SmallHost(pool, Scan(pool, False, 95, None))
    publisher = Publisher(
        out, host, MemoryNumbers(), lambda b, n: said.append(bytes(b[:n])), authenticator, 4
    )
    publisher.begin()
    publisher.publish(b"\x10\0\0\0\0\xa8\x01\x01\x01\x05\0", 11, 0)
    return publisher, said


def datagram(kind, number, payload, language=0, age=b"\0\0\0\0", lifetime=0):
    """Return what mediator 2 says."""
    link = 128 if kind < 4 else 0
    head = bytes([64, kind, language, 156, 0, 0, 0, 2, link, 0, 0, number])
    return head + age + bytes([lifetime, 0 if link else 1]) + payload


def greeted():
    """Return a publisher in a session with mediator 2; the messages of the handshake are discarded."""
    publisher, said = board()
    for data in (
        datagram(1, 1, b"\x02\0\0\0\x09\0\0\0\x01"),
        datagram(2, 2, b"\x02\0\0\0\x09\0\0\0\x01\0\0"),
    ):
        publisher.receive(data, len(data), 5)
    del said[:]
    return publisher, said


def answer(publisher, said, data):
    """Return the status with which a message is answered."""
    publisher.receive(data, len(data), 1000)
    assert len(said) == 1
    status = said.pop()
    assert status[1] == 3
    assert status[18:26] == data[4:12]
    return status[26]


def test_golden_bytes_of_a_conversation():
    publisher, said = board()
    publisher.step(10)
    summary = datagram(2, 1, b"\x02\0\0\0\x09\0\0\0\x01\0\0")
    publisher.receive(summary, len(summary), 20)
    publisher.step(20)
    assert said == [
        b"\x40\x01\x00\x9c\x00\x00\x00\x07\x80\x00\x00\x02\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00",
        b"\x40\x03\x00\x9c\x00\x00\x00\x07\x80\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x80\x00\x00\x01\x00",
        b"\x40\x02\x00\x9c\x00\x00\x00\x07\x80\x00\x00\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x01\x00\x00\x00\x09\x00\x00",
    ]


def test_every_answer_to_an_install():
    publisher, said = greeted()
    assert answer(publisher, said, datagram(33, 1, VECTOR, 1, lifetime=80)) == 0
    assert answer(publisher, said, datagram(33, 1, VECTOR, 1, lifetime=80)) == 0
    assert answer(publisher, said, datagram(33, 2, b"\x02" + VECTOR[1:], 2, lifetime=80)) == 5
    assert answer(publisher, said, datagram(33, 3, b"\x02" + VECTOR[1:-1], 1, lifetime=80)) == 6
    assert answer(publisher, said, datagram(33, 4, b"\x02" + VECTOR[1:], 1, b"\x7f\0\0\0", 8)) == 3
    assert answer(publisher, said, datagram(33, 5, b"\x02" + VECTOR[1:], 1, lifetime=80)) == 0
    assert answer(publisher, said, datagram(33, 6, b"\x03" + VECTOR[1:], 1, lifetime=80)) == 4
    assert answer(publisher, said, datagram(33, 7, b"\x01\xff" + VECTOR[2:], 1, lifetime=80)) == 2
    assert answer(publisher, said, datagram(34, 8, b"\x01\x00")) == 0
    assert answer(publisher, said, datagram(35, 9, VECTOR)) == 8
    assert answer(publisher, said, datagram(33, 6, b"\x03" + VECTOR[1:], 1, lifetime=80)) == 0


def test_there_is_no_room_for_a_subscriber_whose_number_has_more_than_two_bytes():
    publisher, said = greeted()
    for kind, payload in ((33, VECTOR), (34, b"\x01\x00")):
        wide = bytearray(datagram(kind, 1, payload, 1, lifetime=80))
        wide[5] = 1
        assert answer(publisher, said, bytes(wide)) == 4
    assert answer(publisher, said, datagram(33, 1, VECTOR, 1, lifetime=80)) == 0


def test_garbage_is_counted():
    publisher, said = board()
    for noise in (
        b"",
        b"x",
        bytes(16),
        bytes(200),
        datagram(33, 1, VECTOR, 1),
        datagram(1, 1, b"\x01" + bytes(8)),
        b"\x30" + datagram(1, 1, b"\x02\0\0\0\x09\0\0\0\x01")[1:],  # of another version
    ):
        publisher.receive(noise, len(noise), 0)
    assert publisher.refused == 7
    assert said == []


def test_frames():
    out = bytearray(60)
    end = write_frame(b"1\xc0\xdb\x03456789", 10, out)
    line = b"text" + bytes(out[:end]) + b"\xc0\x00\x01\x02\xc0" + bytes(out[: end - 3])
    deframer = Deframer(16)
    at = 0
    found = []
    while at < len(line):
        at = deframer.feed(line, at)
        if deframer.length:
            found.append(bytes(deframer.buffer[: deframer.length]))
    assert found == [b"1\xc0\xdb\x03456789"]
    assert deframer.broken == 2


def test_tags():
    authenticator = Authenticator(4, b"mission")
    tagged = bytearray(b"\x05" + bytes(10))
    authenticator.append_tag(tagged, 3, 2, b"\0\0\0\x09")
    assert bytes(tagged[3:]) == b"\x14\x10\x00\x9c\x8a\xac\xf3\x3e"
    authenticator.append_tag(tagged, 3, -1, b"\0\0\0\0")
    assert bytes(tagged[3:]) == b"\xcc\xd1\xd7\x30\xb7\x40\x2f\x9e"
    mediator = b"\x05\0\0\x31\x95\x25\x8e\x1c\x3d\x24\xdb"
    assert authenticator.verifies(mediator, 3, 2, b"\0\0\0\x09")
    assert not authenticator.verifies(mediator, 3, 3, b"\0\0\0\x09")
    assert not authenticator.verifies(mediator, 3, 2, b"\0\0\0\x08")
    assert not Authenticator(5, b"mission").verifies(mediator, 3, 2, b"\0\0\0\x09")
    subscriber = b"\x05\0\0\xf3\x30\x05\xe1\x7c\x30\xdb\x14"
    assert not authenticator.verifies(subscriber, 3, 2, b"\0\0\0\x09")


def test_a_recorded_hello_changes_nothing():
    publisher, said = greeted()
    for session, heard in ((9, 0), (10, 0), (8, 7)):
        hello = datagram(1, 99, bytes([2, 0, 0, 0, session, 0, 0, 0, heard]))
        publisher.receive(hello, len(hello), 9)
        assert said.pop()[18:27] == bytes([3, 0, 0, 0, 1, 0, 0, 0, session])
    hello = datagram(1, 99, b"\x02\0\0\0\x0a\0\0\0\x01")
    publisher.receive(hello, len(hello), 9)
    assert said == []
    assert (publisher.peer, publisher.peer_session, publisher.session) == (2, b"\0\0\0\x09", b"\0\0\0\x01")


def test_a_short_install_is_refused():
    publisher, said = greeted()
    for length in (3, 4, 5):
        assert answer(publisher, said, datagram(33, 9, VECTOR[:length], 1, lifetime=80)) == 6
    assert answer(publisher, said, datagram(33, 9, VECTOR[:3], 2, lifetime=80)) == 5


def test_a_clock_that_jumps():
    ticks = [1000, 1500, 1400, 1450, 9001450]
    clock = Clock(lambda: ticks.pop(0), lambda a, b: a - b)
    assert [clock.now_ms() for _ in range(4)] == [500, 500, 550, 550]
    assert clock.jumps == 2


def test_a_full_pool_refuses_with_a_reason():
    guard = Watchdog({1: FuzzyFilter(pool=Pool(1, 5 + 14, 1))})
    assert guard.install(1, 1, 5, 1, VECTOR, 1000, 0) == INSTALLED
    assert guard.install(1, 2, 5, 1, VECTOR, 1000, 0) == FULL
    assert guard.install(1, 2, 5, 9, VECTOR, 1000, 0) == UNKNOWN_LANGUAGE
    assert guard.install(1, 1, 4, 1, VECTOR, 1000, 0) == STALE
    assert guard.install(1, 2, 5, 1, VECTOR, 0, 0) == OVER
    assert (guard.counters["refused"], guard.interested()) == (4, 1)
