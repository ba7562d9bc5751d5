"""Who is believed to be where: listed peers at their address, others by a hello that verifies."""

import pytest

from dens.drivers.neighbours import LOYAL_MS, MOST_LEARNT, Neighbours
from dens.seal import Sealer
from dens.stores.memory import MemoryStore
from dens.subscriber import SubscriberEnd

OWN, LISTED, OTHER = 1, 2, 9
HERE, THERE, ELSEWHERE = ("127.0.0.1", 7002), ("127.0.0.1", 9000), ("127.0.0.1", 9001)
SILENCE_MS = 30_000
KEY = b"mission"


def book(key: bytes | None = None, *, accepts_others: bool = True) -> Neighbours:
    sealer = Sealer(OWN, key)
    return Neighbours(sealer, {LISTED: HERE}, 0, accepts_others=accepts_others, silence_ms=SILENCE_MS)


def hello(node: int, key: bytes | None = None) -> bytes:
    end = SubscriberEnd(node, 7, MemoryStore(), 0, sealer=Sealer(node, key))
    end.contact_opened(OWN if node != OWN else LISTED, 0)
    [datagram] = end.datagrams_to_send(0)
    return datagram.data


def other_than_hello(node: int) -> bytes:
    said = bytearray(hello(node))
    said[1] = 3
    return bytes(said)


def test_a_listed_peer_is_heard_from_its_address_only() -> None:
    known = book()
    assert known.node_at(hello(LISTED), HERE, 0) == (LISTED, False)
    assert known.node_at(hello(LISTED), THERE, 0) == (None, False)
    assert known.node_at(hello(OTHER), HERE, 0) == (LISTED, False)
    assert known.node_at(b"noise", HERE, 0) == (LISTED, False)
    assert known.address_of(LISTED) == HERE


def test_another_is_learnt_from_its_hello_and_from_nothing_else() -> None:
    known = book()
    assert known.node_at(b"", THERE, 0) == (None, False)
    assert known.node_at(other_than_hello(OTHER), THERE, 0) == (None, False)
    assert known.address_of(OTHER) is None
    assert known.node_at(hello(OTHER), THERE, 0) == (OTHER, True)
    assert known.address_of(OTHER) == THERE
    assert known.node_at(hello(OTHER), THERE, 0) == (OTHER, False)
    assert known.node_at(other_than_hello(OTHER), THERE, 0) == (OTHER, False)


def test_nobody_else_is_learnt_where_others_are_not_accepted_or_call_themselves_us() -> None:
    assert book(accepts_others=False).node_at(hello(OTHER), THERE, 0) == (None, False)
    assert book().node_at(hello(OWN), THERE, 0) == (None, False)


def test_with_a_key_a_hello_has_to_verify_and_without_one_it_has_no_tag() -> None:
    known = book(KEY)
    assert known.node_at(hello(OTHER), THERE, 0) == (None, False)
    assert known.node_at(hello(OTHER, b"another"), THERE, 0) == (None, False)
    forged = hello(OTHER, KEY)
    assert known.node_at(forged[:-1] + bytes((forged[-1] ^ 1,)), THERE, 0) == (None, False)
    assert known.node_at(forged, THERE, 0) == (OTHER, True)
    assert book().node_at(forged, THERE, 0) == (None, False)


def test_one_that_moved_is_found_at_its_new_address() -> None:
    known = book()
    known.node_at(hello(OTHER), THERE, 0)
    assert known.node_at(hello(OTHER), ELSEWHERE, 1) == (OTHER, True)
    assert known.address_of(OTHER) == ELSEWHERE
    assert known.node_at(other_than_hello(OTHER), THERE, 2) == (None, False)
    assert known.node_at(hello(10), ELSEWHERE, 3) == (10, True)
    assert known.address_of(OTHER) is None


@pytest.mark.parametrize(("after_ms", "moves"), [(LOYAL_MS - 1, False), (LOYAL_MS, True)])
def test_a_recorded_hello_moves_nobody_who_was_heard_of_late(after_ms: int, moves: bool) -> None:
    known = book(KEY)
    recorded = hello(OTHER, KEY)
    known.node_at(recorded, THERE, 0)
    known.node_at(other_than_hello(OTHER), THERE, 5)
    assert known.node_at(recorded, ELSEWHERE, 5 + after_ms) == ((OTHER, True) if moves else (None, False))
    assert known.address_of(OTHER) == (ELSEWHERE if moves else THERE)


@pytest.mark.parametrize("kind", [1, 2])
def test_greetings_do_not_break_the_silence(kind: int) -> None:
    known = book()
    greeting = bytearray(hello(LISTED))
    greeting[1] = kind
    known.node_at(hello(OTHER), THERE, 0)
    for now_ms in range(0, SILENCE_MS, 1_000):
        known.node_at(bytes(greeting), HERE, now_ms)
        assert known.silent(now_ms) == ([], [])
    assert known.silent(SILENCE_MS) == ([LISTED], [])
    assert known.silent(SILENCE_MS + 1) == ([], [])
    known.node_at(other_than_hello(LISTED), HERE, 2 * SILENCE_MS - 1)
    known.node_at(other_than_hello(OTHER), THERE, 2 * SILENCE_MS - 1)
    assert known.silent(3 * SILENCE_MS - 2) == ([], [])
    assert known.silent(5 * SILENCE_MS - 2) == ([LISTED], [])
    assert known.silent(5 * SILENCE_MS - 1) == ([], [OTHER])
    assert known.address_of(OTHER) is None
    assert known.node_at(hello(OTHER), THERE, 5 * SILENCE_MS) == (OTHER, True)


def test_so_many_are_learnt_and_no_more() -> None:
    known = book()
    said = bytearray(hello(OTHER))
    for node in range(100, 100 + MOST_LEARNT):
        said[4:6] = node.to_bytes(2, "big")
        assert known.node_at(bytes(said), ("127.0.0.1", node), 0) == (node, True)
    assert known.node_at(hello(OTHER), THERE, 0) == (None, False)
    said[4:6] = (100).to_bytes(2, "big")
    assert known.node_at(bytes(said), ELSEWHERE, 0) == (100, True)
    known.silent(3 * SILENCE_MS)
    assert known.node_at(hello(OTHER), THERE, 3 * SILENCE_MS) == (OTHER, True)
