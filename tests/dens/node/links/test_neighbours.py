"""Who is believed to be where: listed peers at their address, others by a hello that verifies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.node.links.neighbours import (
    LONGEST_SILENCE_MS,
    LOYAL_MS,
    MOST_LEARNT,
    RIVAL_MS,
    Address,
    Neighbours,
    Rival,
)
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.mission import Mission
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.codes import HELLO, SUMMARY

OWN, LISTED, OTHER = 1, 2, 9
HERE, THERE, ELSEWHERE = ("127.0.0.1", 7002), ("127.0.0.1", 9000), ("127.0.0.1", 9001)
SILENCE_MS = 30_000
KEY = b"mission"


def book(key: bytes | None = None, *, accepts_others: bool = True) -> Neighbours:
    authenticator = Authenticator(OWN, key)
    return Neighbours(authenticator, {LISTED: HERE}, 0, accepts_others=accepts_others, silence_ms=SILENCE_MS)


def who(known: Neighbours, data: bytes, address: Address, now_ms: int) -> tuple[int | None, bool]:
    """Return who is heard by an engine that believes what it hears, and whether a contact begins; whoever is
    not heard gets the reason.
    """
    heard = known.sender_of(data, address, now_ms)
    assert bool(heard.why) is (heard.node is None)
    if heard.node is not None:
        known.was_heard(heard.node, data, address, now_ms)
    return heard.node, heard.is_new


def hello(node: int, key: bytes | None = None, session: int = 1) -> bytes:
    end = SubscriberEndpoint(node, Mission(7, key=key), MemoryStore(), 0)
    for _ in range(session):
        end.contact_opened(OWN if node != OWN else LISTED, 0)
    [datagram] = end.datagrams_to_send(0)
    return datagram.data


def other_than_hello(node: int) -> bytes:
    message = bytearray(hello(node))
    message[1] = 3
    return bytes(message)


def test_a_listed_peer_is_heard_from_its_address_only() -> None:
    known = book()
    assert who(known, hello(LISTED), HERE, 0) == (LISTED, False)
    assert who(known, hello(LISTED), THERE, 0) == (None, False)
    assert who(known, hello(OTHER), HERE, 0) == (LISTED, False)
    assert who(known, b"noise", HERE, 0) == (LISTED, False)
    assert known.address_of(LISTED) == HERE


def test_another_is_learnt_from_its_hello_and_from_nothing_else() -> None:
    known = book()
    assert who(known, b"", THERE, 0) == (None, False)
    assert who(known, other_than_hello(OTHER), THERE, 0) == (None, False)
    assert known.address_of(OTHER) is None
    assert who(known, hello(OTHER), THERE, 0) == (OTHER, True)
    assert known.address_of(OTHER) == THERE
    assert who(known, hello(OTHER), THERE, 0) == (OTHER, False)
    assert who(known, other_than_hello(OTHER), THERE, 0) == (OTHER, False)


def test_unlisted_peer_or_own_number_is_not_learnt() -> None:
    assert who(book(accepts_others=False), hello(OTHER), THERE, 0) == (None, False)
    assert who(book(), hello(OWN), THERE, 0) == (None, False)


def test_with_a_key_a_hello_has_to_verify_and_without_one_it_has_no_tag() -> None:
    known = book(KEY)
    assert who(known, hello(OTHER), THERE, 0) == (None, False)
    assert who(known, hello(OTHER, b"another"), THERE, 0) == (None, False)
    forged = hello(OTHER, KEY)
    assert who(known, forged[:-1] + bytes((forged[-1] ^ 1,)), THERE, 0) == (None, False)
    assert who(known, forged, THERE, 0) == (OTHER, True)
    assert who(book(), forged, THERE, 0) == (None, False)


def test_one_that_moved_is_found_at_its_new_address() -> None:
    known = book()
    who(known, hello(OTHER), THERE, 0)
    assert who(known, hello(OTHER), ELSEWHERE, 1) == (OTHER, True)
    assert known.address_of(OTHER) == ELSEWHERE
    assert who(known, other_than_hello(OTHER), THERE, 2) == (None, False)
    assert who(known, hello(10), ELSEWHERE, 3) == (10, True)
    assert known.address_of(OTHER) is None


@pytest.mark.parametrize(("after_ms", "moves"), [(LOYAL_MS - 1, False), (LOYAL_MS, True)])
def test_replayed_hello_does_not_move_a_recently_heard_peer(after_ms: int, moves: bool) -> None:
    known = book(KEY)
    recorded = hello(OTHER, KEY, 3)
    who(known, hello(OTHER, KEY, 2), THERE, 0)
    who(known, other_than_hello(OTHER), THERE, 5)
    assert who(known, recorded, ELSEWHERE, 5 + after_ms) == ((OTHER, True) if moves else (None, False))
    assert known.address_of(OTHER) == (ELSEWHERE if moves else THERE)


@pytest.mark.parametrize("kind", [1, 2])
def test_greetings_do_not_break_the_silence(kind: int) -> None:
    known = book()
    greeting = bytearray(hello(LISTED))
    greeting[1] = kind
    who(known, hello(OTHER), THERE, 0)
    for now_ms in range(0, SILENCE_MS, 1_000):
        who(known, bytes(greeting), HERE, now_ms)
        assert known.silent(now_ms) == ([], [])
    assert known.silent(SILENCE_MS) == ([LISTED], [])
    assert known.silent(SILENCE_MS + 1) == ([], [])
    who(known, other_than_hello(LISTED), HERE, 2 * SILENCE_MS - 1)
    who(known, other_than_hello(OTHER), THERE, 2 * SILENCE_MS - 1)
    assert known.silent(3 * SILENCE_MS - 2) == ([], [])
    assert known.silent(5 * SILENCE_MS - 2) == ([LISTED], [])
    assert known.silent(5 * SILENCE_MS - 1) == ([], [OTHER])
    assert known.address_of(OTHER) is None
    assert who(known, hello(OTHER), THERE, 5 * SILENCE_MS) == (OTHER, True)


def test_so_many_are_learnt_and_no_more() -> None:
    known = book()
    message = bytearray(hello(OTHER))
    for node in range(100, 100 + MOST_LEARNT):
        message[4:8] = node.to_bytes(4, "big")
        assert who(known, bytes(message), ("127.0.0.1", node), 0) == (node, True)
    assert who(known, hello(OTHER), THERE, 0) == (None, False)
    message[4:8] = (100).to_bytes(4, "big")
    assert who(known, bytes(message), ELSEWHERE, 0) == (100, True)
    known.silent(3 * SILENCE_MS)
    assert who(known, hello(OTHER), THERE, 3 * SILENCE_MS) == (OTHER, True)


@pytest.mark.parametrize(
    ("data", "key", "accepts_others", "message"),
    [
        (b"noise", None, True, "not DENS messages"),
        (b"\x20" + hello(OTHER)[1:], None, True, "uses version 2 of the protocol, and this node 4"),
        (b"\x38" + hello(OTHER, KEY)[1:], KEY, True, "uses version 3 of the protocol, and this node 4"),
        (other_than_hello(OTHER), None, True, "has not sent a hello yet"),
        (other_than_hello(OTHER), KEY, True, "has not sent a hello yet"),
        (hello(OTHER), None, False, "not a listed peer, and accept_others is false"),
        (hello(OWN), None, True, "this node's own number"),
        (hello(LISTED), None, True, "which the node's file lists at 127.0.0.1:7002"),
        (hello(OTHER, KEY), None, True, "this node has no mission key"),
        (hello(OTHER), KEY, True, "has no tag"),
        (hello(OTHER, b"another"), KEY, True, "authenticated with another mission key"),
    ],
)
def test_ignored_datagram_has_its_known_cause(
    data: bytes, key: bytes | None, accepts_others: bool, message: str
) -> None:
    heard = book(key, accepts_others=accepts_others).sender_of(data, THERE, 0)
    assert heard.node is None
    assert message in heard.why
    assert key is not None or "mission key's" not in heard.why


def test_a_peer_out_of_reach_is_greeted_at_a_constant_rate() -> None:
    known = Neighbours(Authenticator(OWN), {LISTED: HERE}, 0, accepts_others=True, silence_ms=3_000)
    greeted = [second for second in range(100) if known.silent(1_000 * second)[0]]
    assert greeted == list(range(3, 100, 3))
    assert known.contact_changes() == []


def test_a_peer_that_only_greets_is_given_twice_the_time() -> None:
    known = Neighbours(Authenticator(OWN), {LISTED: HERE}, 0, accepts_others=True, silence_ms=3_000)

    def greeted(begin_s: int, end_s: int) -> list[int]:
        found = []
        for second in range(begin_s, end_s):
            known.was_heard(LISTED, hello(LISTED), HERE, 1_000 * second)
            if known.silent(1_000 * second)[0]:
                found.append(second)
        return found

    assert greeted(0, 100) == [3, 9, 21, 45, 75]
    assert LONGEST_SILENCE_MS == 30_000
    who(known, other_than_hello(LISTED), HERE, 100_000)
    assert greeted(100, 115) == [103, 106, 112]
    assert [change.reason for change in known.contact_changes()] == [None]


@given(
    st.integers(1, 10),
    st.lists(st.tuples(st.integers(4, 40), st.integers(0, 120)), min_size=1, max_size=8),
)
def test_every_contact_that_outlasts_the_silence_limit_is_noticed(
    silence_s: int, contacts: list[tuple[int, int]]
) -> None:
    """An oracle with the contact table only: a listed peer answers every greeting while it is in reach. Each
    contact of silence_s + 1 seconds or more has a greeting in it, and the changes alternate."""
    known = Neighbours(
        Authenticator(OWN), {LISTED: HERE}, 0, accepts_others=True, silence_ms=1_000 * silence_s
    )
    second = 0
    changes: list[bool] = []
    for length, gap in contacts:
        for in_reach, duration in ((True, length), (False, gap)):
            answered = False
            for _ in range(duration):
                second += 1
                greeted, _ = known.silent(1_000 * second)
                if greeted and in_reach:
                    answered = True
                    known.was_heard(LISTED, other_than_hello(LISTED), HERE, 1_000 * second)
            assert answered or not in_reach or duration <= silence_s
        changes += [change.reason is None for change in known.contact_changes()]
    assert changes == [number % 2 == 0 for number in range(len(changes))]
    assert not contacts or changes or all(length <= silence_s for length, _ in contacts)


def rival(known: Neighbours, data: bytes, address: Address, now_ms: int) -> Rival | None:
    """Return whom this shows to share its number, where an engine believes it."""
    heard = known.sender_of(data, address, now_ms)
    if heard.node is None:
        return heard.rival
    return heard.rival or known.was_heard(heard.node, data, address, now_ms)


def rivals(known: Neighbours, *datagrams: tuple[bytes, Address, int]) -> list[Rival | None]:
    return [rival(known, *datagram) for datagram in datagrams]


@pytest.mark.parametrize("key", [None, KEY])
def test_shared_node_number_is_reported_once(key: bytes | None) -> None:
    """Both go on greeting; without a key each draws the number to itself, with one the first keeps it."""
    message, other, second = hello(OTHER, key), other_than_hello(OTHER), 1_000
    of_another = hello(OTHER, key, 5)
    found = rivals(
        book(key),
        (message, THERE, 0),
        (other, THERE, second),
        (of_another, ELSEWHERE, 2 * second),
        (message, THERE, 3 * second),
        (of_another, ELSEWHERE, 4 * second),
        (message, THERE, 5 * second),
    )
    assert found == [None, None, None, Rival(OTHER, ELSEWHERE), None, None]


@pytest.mark.parametrize("key", [None, KEY])
def test_node_restarted_at_another_address_counts_as_one(key: bytes | None) -> None:
    known = book(key)
    for minute, place in enumerate([THERE, ELSEWHERE, ("127.0.0.1", 9002), ("127.0.0.1", 9003), THERE]):
        at_ms, message = 60_000 * minute, hello(OTHER, key, 1 + minute)
        assert rivals(known, (message, place, at_ms), (message, place, at_ms + LOYAL_MS)) == [None, None]
        assert known.address_of(OTHER) == place
    assert rivals(known, (hello(OTHER, key, 9), ("127.0.0.1", 9003), 240_000 + RIVAL_MS)) == [None]


def test_ignored_node_is_reported_with_the_one_that_took_its_number() -> None:
    """Long after the start: what counts is how long ago it was heard, not the hour."""
    known, begin_ms = book(KEY), 5_000_000
    message, newer = hello(OTHER, KEY), hello(OTHER, KEY, 2)
    assert rivals(known, (message, THERE, begin_ms), (newer, ELSEWHERE, begin_ms + LOYAL_MS)) == [None, None]
    who(known, other_than_hello(OTHER), ELSEWHERE, begin_ms + LOYAL_MS)
    heard = known.sender_of(hello(OTHER, KEY, 3), THERE, begin_ms + LOYAL_MS + 1_000)
    assert (heard.node, heard.rival) == (None, Rival(OTHER, ELSEWHERE))
    assert heard.why == (
        "it claims to be node 9, which is active at 127.0.0.1:9001; it is accepted when that address has "
        "been silent for 10 s"
    )


def test_third_node_with_the_same_number_is_reported_too() -> None:
    message = hello(OTHER)
    places = [THERE, ELSEWHERE, THERE, ("127.0.0.1", 9002), THERE, ELSEWHERE, THERE]
    found = rivals(book(), *((message, place, 1_000 * second) for second, place in enumerate(places)))
    assert [rival and rival.place[1] for rival in found] == [None, None, 9001, None, 9002, None, None]


def test_one_that_was_gone_and_moves_when_it_is_back_is_one() -> None:
    known, message, back_ms = book(), hello(OTHER), 3 * SILENCE_MS
    assert rivals(known, (message, THERE, 0)) == [None]
    assert known.silent(back_ms) == ([LISTED], [OTHER])
    assert rivals(known, (message, ELSEWHERE, back_ms), (message, THERE, back_ms + 1_000)) == [None, None]


def test_unverified_datagram_does_not_keep_a_peer_alive() -> None:
    """17 bytes every 4 s from its old port kept a restarted peer out, and no node had a key."""
    known = book(KEY)
    who(known, hello(OTHER, KEY), THERE, 0)
    who(known, other_than_hello(OTHER), THERE, 1_000)
    for now_ms in range(2_000, 1_000 + LOYAL_MS, 4_000):
        assert known.sender_of(other_than_hello(OTHER), THERE, now_ms) == (OTHER, False, "", "", None)
    assert who(known, hello(OTHER, KEY, 2), ELSEWHERE, 1_000 + LOYAL_MS) == (OTHER, True)
    assert known.address_of(OTHER) == ELSEWHERE


def test_unverified_datagram_does_not_count_as_a_rival() -> None:
    known = book(KEY)
    who(known, hello(OTHER, KEY), THERE, 0)
    who(known, hello(OTHER, KEY, 2), ELSEWHERE, LOYAL_MS)
    for now_ms in range(LOYAL_MS, 2 * LOYAL_MS, 1_000):
        assert known.sender_of(other_than_hello(OTHER), ELSEWHERE, now_ms).rival is None
        assert known.sender_of(other_than_hello(OTHER), THERE, now_ms).rival is None


def test_a_restarted_end_is_heard_at_once_where_only_a_recording_was_before_it() -> None:
    """Whoever replays a hello that this node never heard is the first; it has nothing else to say."""
    known = book(KEY)
    assert who(known, hello(OTHER, KEY, 4), ELSEWHERE, 0) == (OTHER, True)
    assert who(known, hello(OTHER, KEY, 3), THERE, 1) == (None, False), "older"
    assert who(known, hello(OTHER, KEY, 4), THERE, 2) == (None, False), "repeated"
    assert who(known, hello(OTHER, KEY, 5), THERE, 3) == (OTHER, True)
    assert known.address_of(OTHER) == THERE


def test_the_hello_with_which_a_peer_began_moves_it_never() -> None:
    known = book(KEY)
    recorded = hello(OTHER, KEY)
    who(known, recorded, THERE, 0)
    for now_ms in range(0, 3 * SILENCE_MS, 1_000):
        heard = known.sender_of(recorded, ELSEWHERE, now_ms)
        assert (heard.node, heard.rival) == (None, None)
        assert "so it may be a recording" in heard.why
    assert known.address_of(OTHER) == THERE


@pytest.mark.parametrize("kind", [HELLO, SUMMARY])
def test_hello_of_earlier_session_does_not_move_even_a_silent_peer(kind: int) -> None:
    """A peer began with session 3, and with 5 at the same place; a hello with session 4 is a recording."""
    known = book(KEY)
    who(known, hello(OTHER, KEY, 3), THERE, 0)
    newer = hello(OTHER, KEY, 5)
    known.was_heard(OTHER, newer[:1] + bytes((kind,)) + newer[2:], THERE, 100)
    for now_ms in (200, 20_000, 80_000):
        heard = known.sender_of(hello(OTHER, KEY, 4), ELSEWHERE, now_ms)
        assert (heard.node, known.address_of(OTHER)) == (None, THERE)
        assert "its session is older" in heard.why
    assert who(known, hello(OTHER, KEY, 6), ELSEWHERE, 80_001) == (OTHER, True)


def test_replayed_hello_of_another_node_does_not_take_an_address() -> None:
    known, third = book(KEY), 11
    who(known, hello(OTHER, KEY), THERE, 0)
    who(known, other_than_hello(OTHER), THERE, 1)
    assert who(known, hello(third, KEY), THERE, LOYAL_MS) == (None, False)
    assert known.address_of(OTHER) == THERE
    assert who(known, hello(third, KEY), THERE, 1 + LOYAL_MS) == (third, True)
    assert known.address_of(OTHER) is None


@pytest.mark.parametrize("year", [1970, 2019, 2020, 2053, 2054, 2100])
@pytest.mark.parametrize("key", [None, KEY])
def test_peers_are_heard_whatever_the_year_is(year: int, key: bytes | None) -> None:
    """A keyed node without a battery clock, in 1970, heard no node."""
    now_ms = round((year - 2020) * 365.25 * 86_400_000)
    known = Neighbours(
        Authenticator(OWN, key), {LISTED: HERE}, now_ms, accepts_others=True, silence_ms=SILENCE_MS
    )
    assert who(known, hello(OTHER, key), THERE, now_ms) == (OTHER, True)
    who(known, other_than_hello(OTHER), THERE, now_ms + 1)
    assert who(known, hello(OTHER, key, 2), ELSEWHERE, now_ms + 1 + LOYAL_MS) == (OTHER, True)
    assert known.silent(now_ms + SILENCE_MS) == ([LISTED], [])
    assert known.silent(now_ms + 1 + LOYAL_MS + 3 * SILENCE_MS) == ([LISTED], [OTHER])


def test_clock_set_back_does_not_extend_timeouts() -> None:
    known, hour_ms = book(KEY), 3_600_000
    who(known, hello(OTHER, KEY), THERE, hour_ms)
    who(known, other_than_hello(OTHER), THERE, hour_ms)
    who(known, other_than_hello(LISTED), HERE, hour_ms)
    assert known.silent(0) == ([], [])
    assert known.silent(SILENCE_MS) == ([LISTED], [])
    assert who(known, hello(OTHER, KEY, 2), ELSEWHERE, SILENCE_MS) == (OTHER, True)


def test_shared_numbers_are_reported_for_a_bounded_number_of_addresses() -> None:
    known, told = book(), 0
    for port in range(2 * MOST_LEARNT):
        places = [("127.0.0.1", 10_000 + 2 * port), ("127.0.0.1", 10_001 + 2 * port)]
        told += sum(
            rival(known, hello(OTHER), place, port) is not None for place in (*places, places[0], places[1])
        )
    assert told == MOST_LEARNT
