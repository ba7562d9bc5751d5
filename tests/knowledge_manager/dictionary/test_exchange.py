"""Two dictionaries meet: they become equal in any order of meetings, and send little more than differs."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_manager.distributed_dictionary import DistributedDataDictionary
from knowledge_manager.distributed_dictionary_exchange import DictionaryExchange
from knowledge_manager.extract import Extract, ExtractError, OfferedSource
from tests.knowledge_manager.dictionary.histories import NOW_MS, Told, dictionary_of, histories, state_of


def meet(a: DistributedDataDictionary, b: DistributedDataDictionary, now_ms: int = NOW_MS) -> list[bytes]:
    """Let a speak first; return every message that was sent."""
    ends = (DictionaryExchange(a), DictionaryExchange(b))
    sent: list[bytes] = []
    waiting = [(1, ends[0].digest(now_ms))]
    while waiting:
        to, message = waiting.pop(0)
        sent.append(message)
        waiting += [(1 - to, answer) for answer in ends[to].receive(message, 1 - to, now_ms)]
    return sent


def extracts_in(message: bytes) -> int:
    """Count the extracts of an extracts message by walking over their lengths."""
    at, count = 1, 0
    while message[0] == 0x13 and at < len(message):
        at += 9 + int.from_bytes(message[at + 7 : at + 9], "big")
        count += 1
    return count


def answers_or_refused(exchange: DictionaryExchange, message: bytes) -> list[bytes] | ExtractError:
    try:
        return exchange.receive(message, 5, NOW_MS)
    except ExtractError as error:
        return error


def split(told: list[Told], parts: int, chance: random.Random) -> list[list[Told]]:
    return [[one for one in told if chance.random() < 0.6] for _ in range(parts)]


BOUNDS = st.sampled_from([2, 100])


@given(histories(), BOUNDS, st.randoms(use_true_random=False))
def test_it_is_commutative_and_idempotent(told: list[Told], bound: int, chance: random.Random) -> None:
    one, other = split(told, 2, chance)
    a, b = dictionary_of(one, bound), dictionary_of(other, bound)
    c, d = dictionary_of(one, bound), dictionary_of(other, bound)
    meet(a, b)
    meet(d, c)
    assert state_of(a) == state_of(b) == state_of(c) == state_of(d)
    assert state_of(a) == state_of(dictionary_of([*one, *other], bound))
    before = state_of(a)
    assert [message[0] for message in meet(a, b)] == [0x11], "equal dictionaries exchange a digest only"
    assert state_of(a) == before


@given(histories(), BOUNDS, st.randoms(use_true_random=False))
def test_it_is_associative(told: list[Told], bound: int, chance: random.Random) -> None:
    parts = split(told, 3, chance)
    a, b, c = (dictionary_of(part, bound) for part in parts)
    meet(a, b)
    meet(a, c)
    d, e, f = (dictionary_of(part, bound) for part in parts)
    meet(e, f)
    meet(d, e)
    assert state_of(a) == state_of(d)


@given(histories(nodes=10), st.randoms(use_true_random=False))
def test_any_order_of_contacts_ends_in_the_same(told: list[Told], chance: random.Random) -> None:
    nodes = [dictionary_of(part) for part in split(told, 4, chance)]
    everything = [one for node in nodes for one in state_of(node)]
    ring = [(i, (i + 1) % 4) for i in range(4)] * 3
    chance.shuffle(ring)
    for i, j in [*ring, (0, 1), (1, 2), (2, 3), (3, 2), (2, 1), (1, 0)]:
        meet(nodes[i], nodes[j])
    states = [state_of(node) for node in nodes]
    assert states == [states[0]] * 4
    assert {node for node, _, _ in states[0]} == {node for node, _, _ in everything}


@given(histories(nodes=12), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_losing_and_repeating_messages_does_no_harm(told: list[Told], chance: random.Random) -> None:
    one, other = split(told, 2, chance)
    a, b = dictionary_of(one), dictionary_of(other)
    ends = (DictionaryExchange(a), DictionaryExchange(b))
    waiting = [(1, ends[0].digest(NOW_MS)), (0, ends[1].digest(NOW_MS))]
    for _ in range(40):
        if not waiting:
            break
        to, message = waiting.pop(chance.randrange(len(waiting)))
        for _ in range(chance.choice([0, 1, 1, 2])):
            waiting += [(1 - to, answer) for answer in ends[to].receive(message, 1 - to, NOW_MS)]
    meet(a, b)
    assert state_of(a) == state_of(b) == state_of(dictionary_of([*one, *other]))


@given(histories(nodes=12), st.randoms(use_true_random=False), st.data())
def test_corrupt_messages_are_refused_or_harmless(
    told: list[Told], chance: random.Random, data: st.DataObject
) -> None:
    one, other = split(told, 2, chance)
    message = bytearray(data.draw(st.sampled_from(meet(dictionary_of(one), dictionary_of(other)))))
    for _ in range(data.draw(st.integers(1, 3))):
        message[data.draw(st.integers(0, len(message) - 1))] = data.draw(st.integers(0, 255))
    dictionary = dictionary_of(other)
    before = {held.node: held.extract.counter for held in dictionary.held()}
    exchange = DictionaryExchange(dictionary)
    answers = answers_or_refused(exchange, bytes(message))
    if isinstance(answers, ExtractError):
        assert 0 <= answers.offset <= len(message)
        assert {held.node: held.extract.counter for held in dictionary.held()} == before
    else:
        assert all(answer[0] in (0x12, 0x13, 0x14) for answer in answers)
        for node, counter in before.items():
            held = dictionary.get(node)
            assert held is not None
            assert held.extract.counter >= counter


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_refused(message: bytes) -> None:
    exchange = DictionaryExchange(dictionary_of([]))
    answers = answers_or_refused(exchange, message)
    assert isinstance(answers, list) or 0 <= answers.offset <= max(len(message), 2)


@pytest.mark.parametrize("first", [0, 1])
def test_a_publisher_that_repeats_a_counter_is_settled_the_same_everywhere(first: int) -> None:
    contents = [Extract(1, 96, 1, (OfferedSource(0, mask),)).encode() for mask in (1, 2)]
    nodes = [DistributedDataDictionary(), DistributedDataDictionary()]
    for node, content in zip(nodes, contents, strict=True):
        node.learn(3, content, 1_000)
    meet(nodes[first], nodes[1 - first], 2_000)
    assert state_of(nodes[0]) == state_of(nodes[1]) == [(3, contents[1], 1_000)]


def test_one_bad_extract_does_not_spoil_the_others() -> None:
    good = Extract(1, 96, 1, (OfferedSource(0, 1),)).encode()
    entry = bytes([0, 4]) + bytes(4) + bytes([1]) + len(good).to_bytes(2, "big")
    bad = bytes([0, 5]) + bytes(4) + bytes([1]) + (3).to_bytes(2, "big") + b"bad"
    dictionary = DistributedDataDictionary()
    exchange = DictionaryExchange(dictionary)
    assert exchange.receive(bytes([0x13]) + bad + entry + good, 9, 1000) == []
    assert exchange.refused == 1
    assert [held.node for held in dictionary.held()] == [4]
    with pytest.raises(ExtractError, match="cut off"):
        exchange.receive(bytes([0x13]) + entry + good[:-1], 9, 1000)


def filled(count: int, newer: set[int]) -> DistributedDataDictionary:
    dictionary = DistributedDataDictionary()
    for node in range(count):
        content = Extract(1000 + (node in newer), 140, 1, (OfferedSource(0, 3, 2, 2),)).encode()
        dictionary.learn(node, content, NOW_MS, age_ms=node)
    return dictionary


def test_ten_differences_in_a_thousand_send_ten_extracts() -> None:
    a, b = filled(1000, set(range(0, 1000, 200))), filled(1000, set(range(100, 1000, 200)))
    sent = meet(a, b)
    assert state_of(a) == state_of(b)
    assert sum(map(extracts_in, sent)) == 10
    assert sum(map(len, sent)) < 2000
    assert len(meet(a, b)[0]) <= 1026


def test_small_dictionaries_have_small_digests() -> None:
    assert len(DictionaryExchange(filled(0, set())).digest(NOW_MS)) == 6
    assert len(DictionaryExchange(filled(10, set())).digest(NOW_MS)) == 10


def test_many_extracts_come_in_messages_of_bounded_size() -> None:
    a, b = filled(2000, set()), DistributedDataDictionary()
    sent = meet(a, b)
    assert state_of(a) == state_of(b)
    assert sum(map(extracts_in, sent)) == 2000
    assert max(len(message) for message in sent if message[0] == 0x13) < 4200


def test_what_passes_through_a_third_node_tells_so_and_grows_older() -> None:
    a, b, c = (DistributedDataDictionary() for _ in range(3))
    a.learn(7, Extract(1, 140, 1, (OfferedSource(0, 1),)).encode(), 1_000)
    meet(a, b, 5_000)
    meet(b, c, 9_000)
    held = c.get(7)
    assert held is not None
    assert (held.born_ms, held.provenance.hops) == (1_000, 3)
