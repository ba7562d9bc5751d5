"""Summaries in parts: whatever the split, mediators exchange what they would exchange with one summary."""

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.overlay.errors import RemoteProtocolError
from dens.overlay.events import CopyReplicated, DatagramRefused, DuplicateReceived
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.storage.deduplication import KnownItems
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire import envelope
from dens.overlay.wire.codes import LAST_NODE, LINK_NUMBER, NOTIFICATION, SUMMARY, Role
from dens.overlay.wire.item import Item, ItemId, item_id
from dens.overlay.wire.messages import Hello, SummaryMessage
from dens.overlay.wire.summary import Summary, decode
from emulation.fault_injection.topics import LANGUAGE, TOPICS, TopicDirectory
from tests.dens.overlay.on_air import messages_in
from tests.dens.overlay.test_engines import events
from tests.sizes import examples

HOUR_Q = 95
ORIGINS = st.one_of(st.integers(0, 12), st.integers(65_530, 65_540), st.integers(LAST_NODE - 3, LAST_NODE))
KNOWN = st.sets(st.tuples(ORIGINS, st.integers(0, 300)), max_size=40)


def seen(known: set[tuple[int, int]]) -> KnownItems:
    items = KnownItems()
    for origin, number in known:
        items.add(item_id(origin, number), 9)
    return items


def parts_of(items: KnownItems, most_bytes: int) -> Iterator[tuple[int, int, bytes]]:
    first = 0
    while first <= LAST_NODE:
        encoded, last = items.encode_part(first, None, most_bytes)
        assert first <= last
        yield first, last, encoded
        first = last + 1


@given(KNOWN, KNOWN, st.integers(0, 40), st.integers(0, 20))
def test_all_parts_together_say_what_one_summary_says(
    mine: set[tuple[int, int]], theirs: set[tuple[int, int]], more_bytes: int, too_few: int
) -> None:
    """Where a part has room for what any one origin takes; otherwise it is incomplete, but never wrong."""
    ours, whole = seen(mine), seen(theirs)
    alone = [len(whole.encode_only(origin, 10_000)) for origin, _ in theirs]
    enough = max(alone, default=0)
    needed = [item_id(*one) for one in sorted(mine - theirs)]
    for room in (enough, enough + more_bytes, min(enough, too_few)):
        said: Summary = Summary({})
        lacking: list[ItemId] = []
        for first, last, encoded in parts_of(whole, room):
            assert len(encoded) <= room
            found = ours.compare(encoded, first, last)
            lacking += found.lacking
            said.extend(found, 10**6)
            assert whole.encode_part(first, last, room) == (encoded, last), "it is formed again as it was"
        assert lacking == sorted(set(lacking))
        assert set(lacking) >= set(needed)
        for one in mine ^ theirs:
            assert one in theirs or item_id(*one) not in said
        if room >= enough:
            assert lacking == needed
            assert all(item_id(*one) in said for one in theirs - mine)


def test_the_first_origin_of_an_interval_is_counted_from_its_beginning() -> None:
    """Here the bytes of theirs are those of ours for another origin, counted from the one before."""
    ours = seen({(8, 1), (12, 1)})
    encoded, _ = seen({(13, 1)}).encode_part(10, 20, 100)
    ours.encode_part(0, None, 100)
    assert ours._pieces[1] == encoded
    assert list(ours.compare(encoded, 10, 20).lacking) == [item_id(12, 1)]


@given(KNOWN, st.binary(max_size=30), st.integers(0, 40), st.integers(0, 7), ORIGINS, ORIGINS)
def test_comparing_a_part_refuses_exactly_what_decoding_it_refuses(
    theirs: set[tuple[int, int]], junk: bytes, position: int, bit: int, one: int, other: int
) -> None:
    first, last = min(one, other), max(one, other)
    ours = seen({known for known in theirs if known[1] % 3})
    encoded, _ = seen(theirs).encode_part(first, last, 10_000)
    changed = bytearray(encoded)
    if position < len(changed):
        changed[position] ^= 1 << bit
    for data in (encoded, bytes(changed), encoded + junk, junk):
        try:
            said = decode(data)  # Its origins are counted from the first of the interval.
            is_good = all(origin + first <= last for origin in said._by_origin)
        except RemoteProtocolError:
            is_good = False
        if is_good:
            found = ours.compare(data, first, last)
            for origin, number in theirs:
                if first <= origin <= last and item_id(origin, number) in ours:
                    is_said = item_id(origin - first, number) in said
                    assert (item_id(origin, number) in found.lacking) != is_said
        else:
            with pytest.raises(RemoteProtocolError):
                ours.compare(data, first, last)


def test_one_origin_that_is_too_much_for_a_part_is_cut_and_the_next_part_goes_on_behind_it() -> None:
    items = seen({(5, 3 * number) for number in range(100)} | {(9, 1)})
    parts = list(parts_of(items, 20))
    assert [(first, last) for first, last, _ in parts] == [(0, 5), (6, LAST_NODE)]
    assert decode(parts[0][2]).names(5)
    assert list(parts_of(items, 0))[:2] == [(0, 5, b""), (6, 9, b"")]


def test_an_interval_that_has_outgrown_its_room_is_cut_and_stays_what_it_was() -> None:
    items = seen({(origin, 1) for origin in range(20)})
    encoded, last = items.encode_part(0, None, 30)
    assert (len(encoded), last) == (28, 6), "an origin takes four bytes here"
    for number in range(10, 40, 3):
        items.add(item_id(2, number), 9)
    again, same = items.encode_part(0, last, 30)
    assert same == last
    assert len(again) <= 30
    assert list(seen({(1, 1)}).compare(again, 0, last).lacking) == []


# ---------------------------------------------------------------------- two mediators


def mediator(node: int, summary_bytes: int = 48_000, **limits: int) -> DensNode:
    return DensNode(
        node,
        Mission(
            7,
            {LANGUAGE: TOPICS},
            limits=Limits(
                summary_bytes=summary_bytes,
                **{
                    "notification_items": 50_000,
                    "notification_bytes": 10**8,
                    "window_bytes": 65_536,
                    **limits,
                },
            ),
        ),
        MemoryStore(),
        0,
        directory=TopicDirectory(),
    )


def give(node: DensNode, ids: set[tuple[int, int]]) -> list[Item]:
    """Let a node carry these notifications; return what it says to others at once."""
    node.contact_opened(99, 0)
    hello = Hello(Role.MEDIATOR, 5, 1)
    node.receive(
        envelope.pack_link(SUMMARY, 99, LINK_NUMBER, 7, 0, SummaryMessage(hello, b"", b"").encode()), 99, 0
    )
    for origin, number in sorted(ids):
        item = Item(NOTIFICATION, LANGUAGE, origin, number, 0, HOUR_Q, 1, b"\x03\x09")
        node.receive(envelope.pack(item, 7, 0, 1, 0), 99, 0)
    node.contact_lost(99, 0)
    said = [item for out in node.datagrams_to_send(0) for item in messages_in(out.data)]
    events(node)
    return said


class Meeting:
    """Two mediators in contact; chance loses, repeats and reorders what they say."""

    def __init__(self, one: DensNode, other: DensNode, chance: Random | None = None) -> None:
        self.nodes = {one.node: one, other.node: other}
        self.chance = chance
        self.sent: list[Item] = []
        self.replicated: set[tuple[int, ItemId]] = set()
        self.duplicates = self.refused = 0
        one.contact_opened(other.node, 0)
        other.contact_opened(one.node, 0)

    def run(self, until_ms: int, step_ms: int = 100) -> None:
        waiting: list[tuple[int, int, bytes]] = []
        for now_ms in range(0, until_ms, step_ms):
            is_faulty = self.chance is not None and now_ms < until_ms // 2
            for node in self.nodes.values():
                node.timer_due(now_ms)
            for _ in range(50):
                for number, node in self.nodes.items():
                    for out in node.datagrams_to_send(now_ms):
                        self.sent += messages_in(out.data)
                        copies = 1
                        if is_faulty and self.chance is not None:
                            copies = self.chance.choice((0, 1, 1, 2))
                        waiting += [(out.peer, number, out.data)] * copies
                if is_faulty and self.chance is not None:
                    self.chance.shuffle(waiting)
                    held_back = len(waiting) // 3
                else:
                    held_back = 0
                now, waiting = waiting[held_back:], waiting[:held_back]
                for to, by, data in now:
                    self.nodes[to].receive(data, by, now_ms)
                if not now:
                    break
            for number, node in self.nodes.items():
                for event in events(node):
                    if isinstance(event, CopyReplicated):
                        self.replicated.add((number, event.item.id))
                    self.duplicates += isinstance(event, DuplicateReceived)
                    self.refused += isinstance(event, DatagramRefused)


def offered(meeting: Meeting) -> list[ItemId]:
    return [item.id for item in meeting.sent if item.type == NOTIFICATION]


def summaries(meeting: Meeting) -> list[Item]:
    return [item for item in meeting.sent if item.type == SUMMARY]


SMALL = st.sets(st.tuples(st.sampled_from([3, 4, 5, 8, 70_000, LAST_NODE]), st.integers(0, 8)), max_size=15)


@settings(max_examples=examples(40), deadline=None)
@given(SMALL, SMALL, st.sampled_from([0, 4, 9, 25]), st.sampled_from([4, 12, 48_000]))
def test_with_any_split_two_mediators_exchange_what_they_exchange_with_one_summary(
    mine: set[tuple[int, int]], theirs: set[tuple[int, int]], few_bytes: int, other_bytes: int
) -> None:
    found = []
    for one_bytes in (48_000, 200 + few_bytes, few_bytes):
        one, other = mediator(1, one_bytes), mediator(2, 48_000 if one_bytes == 48_000 else other_bytes)
        give(one, mine)
        give(other, theirs)
        meeting = Meeting(one, other)
        meeting.run(3_000)
        assert meeting.refused == 0
        found.append(meeting.replicated)
    wanted = {(2, item_id(*one)) for one in mine - theirs} | {(1, item_id(*one)) for one in theirs - mine}
    assert found == [wanted] * 3


@settings(max_examples=25, deadline=None)
@given(SMALL, SMALL, st.sampled_from([4, 12, 30]), st.randoms(use_true_random=False))
def test_parts_that_are_lost_repeated_and_reordered_change_nothing_of_the_result(
    mine: set[tuple[int, int]], theirs: set[tuple[int, int]], few_bytes: int, chance: Random
) -> None:
    one, other = mediator(1, few_bytes), mediator(2, few_bytes)
    give(one, mine)
    give(other, theirs)
    meeting = Meeting(one, other, chance)
    meeting.run(40_000)
    wanted = {(2, item_id(*one)) for one in mine - theirs} | {(1, item_id(*one)) for one in theirs - mine}
    assert meeting.replicated == wanted


def test_equal_mediators_that_know_20_000_origins_offer_each_other_nothing() -> None:
    one, other = mediator(1), mediator(2)
    ids = {(100 + 3 * origin, 20) for origin in range(20_000)}
    give(one, ids)
    give(other, ids)
    meeting = Meeting(one, other)
    meeting.run(1_000)
    told = summaries(meeting)
    assert len({(item.origin, item.number) for item in told}) == 4, "two parts each"
    assert all(len(item.payload) <= 48_000 + 32 for item in told)
    assert offered(meeting) == []


def test_one_that_lacks_one_of_20_000_origins_is_offered_that_one() -> None:
    one, other = mediator(1), mediator(2)
    ids = {(100 + 3 * origin, 20) for origin in range(20_000)}
    give(one, ids)
    give(other, ids - {(100 + 3 * 19_000, 20)})
    meeting = Meeting(one, other)
    meeting.run(1_000)
    assert offered(meeting) == [item_id(100 + 3 * 19_000, 20)]


def test_small_parts_share_no_datagram_and_cost_one_token() -> None:
    """Thirty parts are more than a peer may begin sessions at once."""
    one, other = mediator(1, 4), mediator(2, 4)
    ids = {(origin, 1) for origin in range(10, 40)}
    give(one, ids)
    give(other, ids)
    meeting = Meeting(one, other)
    meeting.run(1_000)
    assert len(summaries(meeting)) >= 60
    assert (meeting.refused, offered(meeting)) == (0, [])


def test_a_part_that_is_retransmitted_is_the_same_part_and_is_followed_by_no_other() -> None:
    node = mediator(1, 4)
    give(node, {(origin, 1) for origin in (10, 20, 30)})
    peer = Speaker(node)
    peer.say(b"", 0, 9)
    said = [item for now_ms in range(0, 60_000, 500) for item in peer.heard(now_ms) if item.type == SUMMARY]
    read = [(item.number, SummaryMessage.decode(item.payload)) for item in said]
    parts = {(number, (message.first, message.last)) for number, message in read}
    assert [interval for _, interval in sorted(parts)] == [(0, 19), (20, 29), (30, LAST_NODE)]
    assert len(said) > 9


# ---------------------------------------------------------------------- a peer that says what it likes


class Speaker:
    """A mediator that says parts by hand."""

    def __init__(self, node: DensNode) -> None:
        self.node = node
        self.number = LINK_NUMBER
        node.contact_opened(9, 0)
        node.datagrams_to_send(0)

    def say(self, known: bytes, first: int = 0, last: int = LAST_NODE, part_of: int = 0) -> int:
        """Say a part; return its number."""
        self.number += 1
        message = SummaryMessage(Hello(Role.MEDIATOR, 5, 1), b"", known, (), first, last, part_of)
        self.node.receive(envelope.pack_link(SUMMARY, 9, self.number, 7, 0, message.encode()), 9, 0)
        return self.number

    def heard(self, now_ms: int) -> list[Item]:
        """Return what the node says then."""
        self.node.timer_due(now_ms)
        return [item for out in self.node.datagrams_to_send(now_ms) for item in messages_in(out.data)]

    def was_answered(self, number: int, now_ms: int) -> bool:
        acks = [item.payload for item in self.heard(now_ms) if item.type == 3]
        return any(number.to_bytes(4, "big") in payload for payload in acks)


def test_a_part_before_its_first_or_of_another_summary_is_not_taken_and_comes_again() -> None:
    node = mediator(1)
    give(node, {(5, 1), (50, 1), (500, 1)})
    peer = Speaker(node)
    early = peer.say(b"", 10, 99, LINK_NUMBER + 2)
    assert not peer.was_answered(early, 300)
    first = peer.say(b"", 0, 9)
    assert first == LINK_NUMBER + 2
    said = peer.heard(600)
    assert [item.id for item in said if item.type == NOTIFICATION] == [item_id(5, 1)]
    assert not peer.was_answered(peer.say(b"", 100, 999, first), 900), "one between them is missing"
    assert not peer.was_answered(peer.say(b"", 10, 99, first + 7), 1_200), "it is another summary's"
    peer.say(b"", 10, 99, first)
    said = peer.heard(1_500)
    assert [item.id for item in said if item.type == NOTIFICATION and item.origin != 5] == [item_id(50, 1)]
    assert peer.was_answered(peer.say(b"", 10, 99, first), 1_800), "a repetition is answered"


def test_what_is_learnt_before_its_part_has_come_waits_for_it() -> None:
    node = mediator(1)
    peer = Speaker(node)
    first = peer.say(b"", 0, 9)
    said = give(node, {(5, 1), (50, 1), (51, 1)})
    assert [item.id for item in said if item.type == NOTIFICATION] == [item_id(5, 1)]
    peer.say(b"\x28\x00\x01\x00", 10, LAST_NODE, first)  # it knows (50, 1)
    said = [item for item in peer.heard(600) if item.type == NOTIFICATION and item.origin > 5]
    assert [item.id for item in said] == [item_id(51, 1)]


def test_an_end_that_speaks_in_parts_is_refused() -> None:
    node = mediator(1)
    node.contact_opened(9, 0)
    message = SummaryMessage(Hello(Role.SUBSCRIBER, 5, 1), b"", b"", (), 0, 9)
    node.receive(envelope.pack_link(SUMMARY, 9, LINK_NUMBER, 7, 0, message.encode()), 9, 0)
    refused = [event for event in events(node) if isinstance(event, DatagramRefused)]
    assert [event.reason for event in refused] == ["malformed"]
    assert node.role_of(9) is None


def test_parts_without_end_fill_no_memory() -> None:
    node = mediator(1, known_items=100)
    peer = Speaker(node)
    first = peer.say(b"", 0, 0)
    for at in range(1, 300):
        peer.say(b"\x00\x00\x01\x00", at, at, first)
    session = node.context.sessions[9]
    assert session.covered == 299
    assert sum(session.named_any_of(origin) for origin in range(1, 300)) == 100
