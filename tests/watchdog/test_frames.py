"""Frames on a serial line: the board's code and the host's, written apart, agree on every byte."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from dens.node.links import serial
from watchdog.frames import Deframer, write_frame

ROOM = 96


def board_frame(datagram: bytes) -> bytes:
    out = bytearray(2 * len(datagram) + 6)
    return bytes(out[: write_frame(datagram, len(datagram), out)])


def board_datagrams(deframer: Deframer, data: bytes) -> list[tuple[int, bytes]]:
    found = []
    at = 0
    while at < len(data):
        at = deframer.feed(data, at)
        if deframer.length:
            found.append((deframer.length, bytes(deframer.buffer[: deframer.length])))
    return found


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    borders = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[a:b] for a, b in pairwise(borders)]


def test_a_known_frame() -> None:
    # "123456789" has the CRC-16/CCITT-FALSE 0x29B1.
    assert board_frame(b"123456789") == b"\xc0123456789\x29\xb1\xc0"
    assert board_frame(b"\xc0\xdb\x03")[:7] == b"\xc0\xdb\xdc\xdb\xdd\xdb\xde"


@given(st.binary(min_size=1, max_size=60))
def test_both_sides_write_the_same_and_never_a_ctrl_c(datagram: bytes) -> None:
    framed = board_frame(datagram)
    assert framed == serial.frame(datagram)
    assert 3 not in framed
    assert framed.count(b"\xc0") == 2


@given(st.lists(st.binary(min_size=1, max_size=60), max_size=5), st.lists(st.integers(0, 999), max_size=6))
def test_both_sides_read_it_in_whatever_pieces_it_comes(datagrams: list[bytes], cuts: list[int]) -> None:
    line = b"boot text\r\n".join(serial.frame(datagram) for datagram in datagrams)
    board, host = Deframer(ROOM), serial.Deframer()
    here = [found for piece in pieces(line, cuts) for found in host.feed(piece)]
    there = [found for piece in pieces(line, cuts) for found in board_datagrams(board, piece)]
    assert here == datagrams
    assert there == [(len(datagram), datagram) for datagram in datagrams]
    assert host.broken == board.broken == max(0, len(datagrams) - 1)
    assert set(host.noise) <= {b"boot text\r\n"}


@given(st.binary(max_size=300))
@example(b"\xc0\xdb\xc0\xdb\xdb\xc0")
def test_garbage_yields_no_frame_and_raises_nothing(noise: bytes) -> None:
    board, host = Deframer(16), serial.Deframer()
    good = serial.frame(b"after")
    assert host.feed(b"\xc0" + noise + b"\xc0" + good)[-1:] == [b"after"]
    assert board_datagrams(board, b"\xc0" + noise + b"\xc0" + good)[-1:] == [(5, b"after")]


@given(st.binary(min_size=4, max_size=60), st.integers(0, 10_000), st.integers(1, 255))
def test_a_damaged_byte_never_makes_another_datagram(datagram: bytes, place: int, change: int) -> None:
    framed = bytearray(serial.frame(datagram))
    at = 1 + place % (len(framed) - 2)
    framed[at] ^= change
    host = serial.Deframer().feed(bytes(framed))
    board = [found for _, found in board_datagrams(Deframer(ROOM), bytes(framed))]
    assert set(host) <= {datagram}
    assert set(board) <= {datagram}


@given(st.binary(min_size=4, max_size=60), st.integers(1, 60))
def test_a_truncated_frame_is_dropped_and_the_next_one_found(datagram: bytes, kept: int) -> None:
    cut = serial.frame(datagram)[: min(kept, len(datagram))]
    line = cut + serial.frame(b"next")
    assert serial.Deframer().feed(line) == [b"next"]
    assert board_datagrams(Deframer(ROOM), line) == [(4, b"next")]


def test_a_datagram_longer_than_the_buffer_is_cut_but_measured() -> None:
    assert board_datagrams(Deframer(16), serial.frame(bytes(range(100)))) == [(100, bytes(range(16)))]
    deframer = Deframer(16)
    assert board_datagrams(deframer, serial.frame(bytes(100))[:-3] + b"\x00\xc0") == []
    assert deframer.broken == 1


def test_a_line_that_never_ends_takes_no_memory() -> None:
    host = serial.Deframer()
    for _ in range(40):
        assert host.feed(bytes(5000)) == []
    assert host.feed(b"\xc0" + serial.frame(b"x")) == [b"x"]
    assert len(host.noise[0]) <= serial.LONGEST


def test_a_link_writes_in_bursts() -> None:
    link = serial.SerialLink(burst_bytes=10, pause_ms=5)
    assert link.bytes_to_write(0) == b""
    link.send(bytes(range(20, 40)))
    whole = serial.frame(bytes(range(20, 40)))
    assert link.bytes_to_write(100) == whole[:10]
    assert link.bytes_to_write(104) == b""
    assert link.bytes_to_write(105) == whole[10:20]
    assert link.bytes_to_write(3) == whole[20:]  # a clock that was set back does not stop it
    assert link.receive(whole) == [bytes(range(20, 40))]
