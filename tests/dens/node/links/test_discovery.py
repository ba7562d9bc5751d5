"""Beacons: what is believed of them, and what becomes of neighbours that were found by them."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.node.links.discovery import ALL_BURST, MOST_REMEMBERED, PLACE_BURST, Beacon, Discovery
from dens.node.links.neighbours import LOYAL_MS, MOST_LEARNT, Neighbours
from dens.overlay.errors import RemoteProtocolError
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.codes import ACKNOWLEDGEMENT, HELLO, LINK_NUMBER, Role
from dens.overlay.wire.envelope import pack_link
from dens.overlay.wire.messages import Hello
from tests.sizes import examples

KEY, OTHER_KEY = b"mission", b"another mission"
HERE, THERE = ("192.168.1.5", 7001), ("192.168.1.6", 7001)
BEACONS = st.builds(
    Beacon,
    st.sampled_from([1, 2, 3]),
    st.integers(0, 255),
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(1, 65_535).map(lambda tenths: 100 * tenths),
)


def node(number: int, key: bytes | None = KEY, life: int = 1, check: int = 7, **more: bool) -> Discovery:
    return Discovery(Authenticator(number, key), check, Role.MEDIATOR, life, 1_000, 0, **more)


def test_bytes_that_others_rely_on() -> None:
    told = Beacon(2, 77, 0x01020304, 5, 6, 1_500)
    assert told.encode().hex(" ") == "44 45 4e 53 02 02 4d 01 02 03 04 00 00 00 05 00 00 00 06 00 0f"
    assert len(node(1).beacon(0)) == 29
    assert len(node(1, key=None).beacon(0)) == 21


@given(BEACONS)
def test_a_beacon_is_read_as_it_was_written(beacon: Beacon) -> None:
    assert Beacon.decode(beacon.encode()) == beacon


@given(st.one_of(st.binary(max_size=40), BEACONS.map(Beacon.encode)), st.integers(0, 40), st.integers(0, 255))
def test_the_decoder_is_total(content: bytes, at: int, byte: int) -> None:
    for changed in (content, content[:at], content[:at] + bytes((byte,)) + content[at + 1 :]):
        with suppress(RemoteProtocolError):
            assert Beacon.decode(changed).encode() == changed
        for listener in (node(1), node(1, key=None)):
            listener.receive(changed, HERE, 0)


def test_every_bit_of_a_beacon_is_verified() -> None:
    data, listener = node(2).beacon(0), node(1)
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        assert listener.receive(bytes(flipped), HERE, 100 * bit).beacon is None
    assert len(listener) == 0
    assert listener.receive(data, HERE, 10**6).beacon is not None


def test_two_missions_in_one_network_do_not_hear_each_other() -> None:
    ours, theirs = node(1), node(1, OTHER_KEY)
    for count in range(50):
        assert ours.receive(node(2, OTHER_KEY, life=count).beacon(0), HERE, 1_000 * count) == (None, "")
        assert theirs.receive(node(2, life=count).beacon(0), HERE, 1_000 * count) == (None, "")
    assert ours.receive(node(3, None).beacon(0), HERE, 10**6) == (None, "")
    assert node(4, None).receive(node(2).beacon(0), HERE, 10**6) == (None, "")
    assert (len(ours), len(theirs)) == (0, 0)


def test_other_mission_table_is_reported() -> None:
    seen = node(1).receive(node(2, check=8).beacon(0), HERE, 0)
    assert seen.beacon is None
    assert "different mission table" in seen.why


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 4)), min_size=1, max_size=40))
def test_only_what_is_newer_than_all_that_was_heard_is_believed(order: list[tuple[int, int]]) -> None:
    """Beacons of three lives come in any order, repeated, from anywhere: against the greatest so far."""
    recorded = {}
    for life in (1, 2, 3):
        speaker = node(2, life=life)
        recorded |= {(life, count): speaker.beacon(0) for count in range(5)}
    listener, greatest = node(1), (0, 0)
    for at, place in enumerate(order):
        seen = listener.receive(recorded[place], HERE, 100 * at)
        assert (seen.beacon is not None) is (place > greatest)
        greatest = max(greatest, place)


def test_what_was_heard_is_remembered_within_a_bound() -> None:
    listener = node(0)
    data = [node(number).beacon(0) for number in range(1, MOST_REMEMBERED + 11)]
    for at, one in enumerate(data):
        assert listener.receive(one, (f"10.0.{at // 250}.{at % 250}", 7001), 10 * at).beacon is not None
    assert len(listener) == MOST_REMEMBERED
    assert listener.receive(data[-1], HERE, 10**6).beacon is None
    assert listener.receive(data[0], HERE, 10**6).beacon is not None, "who was heard longest ago is forgotten"


def test_a_flood_from_one_place_leaves_others_heard() -> None:
    listener = node(1)
    for count in range(10_000):
        listener.receive(node(2, OTHER_KEY).beacon(0), HERE, count // 10)
    assert listener.refused == 10_000
    assert listener.receive(node(3).beacon(0), THERE, 1_000).beacon is not None
    assert PLACE_BURST < ALL_BURST


def test_its_own_beacon_is_nothing_and_an_end_sends_none() -> None:
    speaker = node(2)
    assert speaker.receive(speaker.beacon(0), HERE, 0) == (None, "")
    assert node(2, sends_beacons=False).due_ms(0) is None


@given(st.integers(0, 2**31 - 1))
def test_beacons_leave_about_once_a_period_and_not_in_step(number: int) -> None:
    speaker, now_ms, pauses = node(number), 0, set()
    for _ in range(60):
        speaker.beacon(now_ms)
        due_ms = speaker.due_ms(now_ms)
        assert due_ms is not None
        pauses.add(due_ms - now_ms)
        now_ms = due_ms
    assert min(pauses) >= 800
    assert max(pauses) <= 1_200
    assert len(pauses) > 20
    assert speaker.due_ms(now_ms - 10**9) == now_ms - 10**9 + 2_000, "a clock was put back"


# ---------------------------------------------------------------------- neighbours


def neighbours(listed: dict[int, tuple[str, int]] | None = None, key: bytes | None = KEY) -> Neighbours:
    return Neighbours(Authenticator(1, key), listed or {}, 0, accepts_others=True, silence_ms=30_000)


def said(number: int) -> bytes:
    return pack_link(ACKNOWLEDGEMENT, number, LINK_NUMBER, 7, 0, b"")


def test_whoever_is_found_is_greeted_once_and_kept_while_its_beacons_come() -> None:
    known = neighbours()
    assert known.discovered(2, HERE, 1_000, 0)
    greeted = 0
    for now_ms in range(1_000, 300_000, 1_000):
        assert not known.discovered(2, HERE, 1_000, now_ms)
        anew, gone = known.silent(now_ms)
        assert gone == []
        greeted += anew == [2]
    assert 8 <= greeted <= 10, "an idle peer gets a HELLO every 30 s, as listed peers do"
    assert known.address_of(2) == HERE


def test_whoever_falls_silent_is_let_go_and_found_again() -> None:
    known = neighbours()
    assert known.discovered(2, HERE, 1_000, 0)
    assert known.silent(4_999) == ([], [])
    assert known.silent(5_000) == ([], [2])
    assert known.address_of(2) is None
    assert known.discovered(2, THERE, 1_000, 6_000)
    known.was_heard(2, said(2), THERE, 9_000)
    assert known.silent(13_999) == ([], []), "any word will do"
    assert known.silent(14_000) == ([], [2])
    assert known.discovered(2, HERE, 10_000, 20_000)
    assert known.silent(69_999) == ([2], []), "one that beacons seldom is given its time"
    assert known.silent(70_000) == ([], [2])


def test_the_list_counts_for_more() -> None:
    known = neighbours({2: HERE})
    assert not known.discovered(2, THERE, 1_000, 0)
    assert not known.discovered(3, HERE, 1_000, 0)
    assert not known.discovered(1, THERE, 1_000, 0)
    assert known.address_of(2) == HERE
    assert known.silent(10_000) == ([], [])


def test_a_peer_that_was_heard_just_now_is_not_moved_by_a_beacon_from_elsewhere() -> None:
    """A node may replay a fresh beacon from another address before the original arrives."""
    known = neighbours()
    assert known.discovered(2, HERE, 1_000, 0)
    known.was_heard(2, said(2), HERE, 1_000)
    assert not known.discovered(2, THERE, 1_000, 1_000 + LOYAL_MS - 1)
    assert not known.discovered(3, HERE, 1_000, 1_000 + LOYAL_MS - 1), "nor driven from its place"
    assert known.discovered(2, THERE, 1_000, 1_000 + LOYAL_MS)
    assert known.discovered(3, THERE, 1_000, 1_000 + LOYAL_MS), "a silent address is replaced"
    assert known.address_of(2) is None


def test_no_more_are_known_than_may_be() -> None:
    known = neighbours()
    found = [
        known.discovered(number, ("10.0.0.1", number), 1_000, 0) for number in range(2, MOST_LEARNT + 52)
    ]
    assert found.count(True) == MOST_LEARNT == len(known)


@pytest.mark.parametrize("key", [KEY, None])
def test_who_was_found_is_heard_where_it_is(key: bytes | None) -> None:
    known = neighbours(key=key)
    assert known.discovered(2, HERE, 1_000, 0)
    hello = pack_link(HELLO, 2, LINK_NUMBER, 7, 0, Hello(2, 5, 0).encode())
    assert known.sender_of(hello, HERE, 1).node == 2
    assert not known.sender_of(hello, HERE, 1).is_new


@given(
    st.lists(
        st.tuples(st.integers(2, 4), st.sampled_from([HERE, THERE]), st.booleans(), st.integers(0, 9_000)),
        max_size=40,
    )
)
@settings(max_examples=examples(200))
def test_places_and_peers_stay_one_to_one(steps: list[tuple[int, tuple[str, int], bool, int]]) -> None:
    known, now_ms = neighbours(), 0
    for number, place, is_word, later_ms in steps:
        now_ms += later_ms
        if is_word:
            known.was_heard(number, said(number), place, now_ms)
        else:
            known.discovered(number, place, 1_000, now_ms)
        known.silent(now_ms)
        places = {one: known.address_of(one) for one in (2, 3, 4) if known.address_of(one) is not None}
        assert len(set(places.values())) == len(places) == len(known)
        for one, address in places.items():
            assert address is not None
            assert known.sender_of(said(one), address, now_ms).node == one
